-- The answer to who asked for several locks and can't have this one: GET said `holder`, or that
-- it is no string.
local function blocked(lock, holder)
  local left = redis.call('PTTL', lock)
  if type(holder) == 'table' then
    local what = other_data(lock, 'string', holder) or redis.call('GET', lock)
    return {ARGV[1], 3, left, what .. ' under ' .. lock}
  end
  return {ARGV[1], 0, left, string.sub(holder, 1, 512)}
end
