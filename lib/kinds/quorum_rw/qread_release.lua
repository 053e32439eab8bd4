-- Release the read hold of the owner ARGV[2] with the token ARGV[3] on the lock KEYS[1]. After
-- the last hold the readers' turn (KEYS[3]) ends, and waiters are woken by '0' on the channel
-- KEYS[2], unless ARGV[4] is 0.
-- Returns the nonce, or {nonce, 0} if the hold was gone already.
-- include quorum_rw/qrw
local member = 'r:' .. me
-- include quorum_rw/qrw_remove
if ARGV[4] ~= '0' and not last[2] then
  if string.find(tostring(redis.pcall('GET', KEYS[3])), '^turn:') then
    redis.call('DEL', KEYS[3])
  end
  redis.pcall('PUBLISH', KEYS[2], '0')
end
return ARGV[1]
