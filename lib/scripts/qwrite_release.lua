-- Give up the hold of the lock KEYS[1] to write, by the owner ARGV[2] with the token ARGV[3].
-- After the last one, also if the owner reads on, all who wait are woken by '1' on the channel
-- KEYS[2], unless ARGV[4] is 0; if readers wait (KEYS[3]) it is their turn, for ARGV[4] ms.
-- Returns {nonce, 1}, or {nonce, 0} where it was gone already.
-- include other_data
-- include qrw
if tidy(KEYS[1]) or redis.call('ZREM', KEYS[1], 'w:' .. me) == 0 then
  return {ARGV[1], 0}
end
settle(KEYS[1])
local wakes = ARGV[4] ~= '0'
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  wakes = wakes and string.sub(member, 1, 1) ~= 'w'
end
if wakes then
  if type(redis.pcall('GET', KEYS[3])) == 'string' then
    redis.pcall('SET', KEYS[3], 'turn', 'PX', ARGV[4])
  end
  redis.pcall('PUBLISH', KEYS[2], '1')
end
return {ARGV[1], 1}
