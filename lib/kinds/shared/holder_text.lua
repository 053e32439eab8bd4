-- The token of the lock's holder. Nil: the lock is free. Data of another type gives a table,
-- which equals no token.
local function holder_of(lock)
  local holder = redis.pcall('GET', lock)
  if type(holder) == 'table' and not other_data(lock, 'string', holder) then
    redis.call('GET', lock) -- it failed for another reason
  end
  return holder
end
