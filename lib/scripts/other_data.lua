-- What stands under a name where a command failed that is for that type; nil: such data, so that
-- it failed for another reason.
local function other_data(name, expected)
  local there = redis.call('TYPE', name).ok
  if there ~= expected and there ~= 'none' then
    return there == 'zset' and 'a sorted set' or 'a ' .. there
  end
end
