-- What stands under a name where a command failed that is for that type; nil: such data, so that
-- it failed for another reason. Where `failed` is that error, it is not looked at any further
-- unless it says so: a right that is missing is then told of the command that wants it.
local function other_data(name, expected, failed)
  if failed and not string.find(failed.err, '^WRONGTYPE') then
    return nil
  end
  local there = redis.call('TYPE', name).ok
  if there ~= expected and there ~= 'none' then
    return there == 'zset' and 'a sorted set' or 'a ' .. there
  end
end
