-- Give up the hold of the lock KEYS[1] to write, by the owner ARGV[2] with the token ARGV[3].
-- After the last one, also if the owner reads on, all who wait are woken by '1' on the channel
-- KEYS[3], unless ARGV[4] is 0; if readers wait (KEYS[4]) it is their turn, for ARGV[4] ms. The
-- mark KEYS[2] that the client of ARGV[5] left where it was refused goes with it.
-- Returns {nonce, 1}, or {nonce, 0} where it was gone already.
-- include shared/other_data
-- include quorum_rw/qrw
local client, wakes = string.sub(ARGV[5], 1, 36), ARGV[4] ~= '0'
if wakes and redis.pcall('GET', KEYS[2]) == client then
  redis.pcall('DEL', KEYS[2])
end
if tidy(KEYS[1]) or redis.call('ZREM', KEYS[1], 'w:' .. me) == 0 then
  return {ARGV[1], 0}
end
settle(KEYS[1])
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  wakes = wakes and string.sub(member, 1, 1) ~= 'w'
end
if wakes then
  if type(redis.pcall('GET', KEYS[4])) == 'string' then
    redis.pcall('SET', KEYS[4], 'turn:' .. ARGV[4], 'PX', ARGV[4])
  end
  redis.pcall('PUBLISH', KEYS[3], '1')
end
return {ARGV[1], 1}
