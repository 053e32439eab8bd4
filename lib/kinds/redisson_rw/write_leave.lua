-- The waiter ARGV[2] wants the write lock KEYS[1] no longer: its client goes out of the mark
-- KEYS[2]. If it was the last there, the readers whom it kept out are told in the channel
-- KEYS[3].
-- Returns {nonce, 1}.
local gone = redis.pcall('SREM', KEYS[2], string.sub(ARGV[2], 1, 36))
if gone == 1 and redis.call('EXISTS', KEYS[2]) == 0 then
  redis.pcall('PUBLISH', KEYS[3], '1')
end
return {ARGV[1], 1}
