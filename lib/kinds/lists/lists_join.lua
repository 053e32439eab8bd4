-- R9, R17: Which node lists do the clients of this server have? The hash KEYS[1] has a field
-- for each list, which is its mark, as "n5-ttl30000-keys2-drift10000-guard-1f2e3d4c". Its value is
-- this server's time, in ms, at which a client last showed it.
-- ARGV[1] is a nonce, ARGV[2] the mark of the asker. A mark is alive for the max-ttl that it
-- tells, of 7 days at the most, and ARGV[3] ms: for so long its clients may hold locks. Others are
-- deleted. A later version may write anything behind the max-ttl, of letters, digits and dashes,
-- in a mark of 63 bytes at the most: list_mark.h has the same. Where a field or a time is none of
-- these, another program has written it: all stays as it is, and that is an error.
-- Clients of the former format of keys show their marks elsewhere: those are read, where the user
-- may, and nothing is written there.
-- Returns {nonce, how many other marks are alive, the first four of them, a blank between}.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local stands, others, last = redis.call('HGETALL', KEYS[1]), {}, 0
local function is_shown(mark, seen)
  return #mark <= 63 and string.find(mark, '^n%d+%-ttl%d+%-[%w%-]+$') and
    #seen < 17 and string.find(seen, '^%d+$')
end
for i = 1, #stands, 2 do
  if not is_shown(stands[i], stands[i + 1]) then
    return redis.error_reply('ERR ' .. KEYS[1] .. ' has what is no list of nodes')
  end
end
local function show(mark, seen)
  redis.call('HSET', KEYS[1], mark, string.format('%.0f', seen))
end
local function left(mark, seen)
  local ttl = tonumber(string.match(mark, '^n%d+%-ttl(%d+)%-'))
  return seen + math.min(ttl, 604800000) + ARGV[3] - now
end
for i = 1, #stands, 2 do
  local mark, seen = stands[i], tonumber(stands[i + 1])
  if seen > now then
    seen = now
    show(mark, seen)
  end
  if mark ~= ARGV[2] and left(mark, seen) <= 0 then
    redis.call('HDEL', KEYS[1], mark)
  elseif mark ~= ARGV[2] then
    others[#others + 1] = mark
    last = math.max(last, left(mark, seen))
  end
end
show(ARGV[2], now)
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.max(last, left(ARGV[2], now))))
local may = not redis.acl_check_cmd or redis.acl_check_cmd('HGETALL', 'redlock:lists')
local former = may and redis.pcall('HGETALL', 'redlock:lists') or {}
for i = 1, #former, 2 do
  local mark, seen = former[i], former[i + 1]
  if is_shown(mark, seen) and left(mark, math.min(seen, now)) > 0 then
    others[#others + 1] = mark
  end
end
table.sort(others)
return {ARGV[1], #others, table.concat(others, ' ', 1, math.min(#others, 4))}
