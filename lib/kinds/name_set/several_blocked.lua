-- The refusal of several locks because of this one. `holder` is the result of GET: a token, or
-- an error because the key is no string.
local function blocked(lock, holder)
  local left = redis.call('PTTL', lock)
  if type(holder) == 'table' then
    local what = other_data(lock, 'string', holder) or redis.call('GET', lock)
    return {ARGV[1] .. '-', 3, left, what .. ' under ' .. lock}
  end
  return {ARGV[1] .. '-', 0, left, string.sub(holder, 1, 512)}
end
