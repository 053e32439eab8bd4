-- The waiter ARGV[2] stops waiting for the write lock KEYS[1]: remove its client from the mark
-- KEYS[2]. If that was the last client in the mark, wake the readers that the mark kept out, on
-- the channel KEYS[3].
-- Returns the nonce.
local gone = redis.pcall('SREM', KEYS[2], string.sub(ARGV[2], 1, 36))
if gone == 1 and redis.call('EXISTS', KEYS[2]) == 0 then
  redis.pcall('PUBLISH', KEYS[3], '1')
end
return ARGV[1]
