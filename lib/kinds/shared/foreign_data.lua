-- The type of the data under a name, in words, after a command for the type `expected` failed
-- there. Nil: the type is as expected, so the command failed for another reason.
-- If `failed` is that error and not a WRONGTYPE, the type is not looked up. A missing right is
-- then reported for the command that needs it, not for TYPE.
local function other_data(name, expected, failed)
  if failed and not string.find(failed.err, '^WRONGTYPE') then
    return nil
  end
  local there = redis.call('TYPE', name).ok
  if there ~= expected and there ~= 'none' then
    return there == 'zset' and 'a sorted set' or 'a ' .. there
  end
end
