-- Does ARGV[2] have a member in the set? The members that end last are looked at first.
local function is_in(set)
  local find, owner = string.find, ':' .. #ARGV[2] .. ':' .. ARGV[2] .. ':'
  for at = 0, 1000000, 256 do
    local some = redis.call('ZREVRANGE', set, at, at + 255)
    for i = 1, #some do
      if find(some[i], owner, 2, true) == 2 then
        return tonumber(redis.call('ZSCORE', set, some[i])) > now
      end
    end
    if #some < 256 then
      return false
    end
  end
end

-- Returns 1, or a refusal: 0 or 3, the ms left, and the writer or the data found there. In the
-- readers' `turn` a mark does not refuse.
local function take(turn)
  local there = tidy(KEYS[1])
  if there then
    return 3, redis.call('PTTL', KEYS[1]), there
  end
  local holder, ends = writer(KEYS[1])
  if holder then
    return 0, ends - now, holder
  end
  local mark = redis.pcall('GET', KEYS[2])
  if type(mark) == 'string' and not turn and not is_in(KEYS[1]) then
    return 0, redis.call('PTTL', KEYS[2]), 'a writer that waits'
  end
  put(KEYS[1], 'r:' .. me, ARGV[4])
  return 1
end
