-- Who has the lock; nil: nobody. Data of another type is a table, and so no token: what is asked for
-- is not there.
local function holder_of(lock)
  local holder = redis.pcall('GET', lock)
  if type(holder) == 'table' and not other_data(lock, 'string', holder) then
    redis.call('GET', lock) -- it failed for another reason
  end
  return holder
end
