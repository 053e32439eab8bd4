-- Release the write hold of the owner ARGV[2] with the token ARGV[3] on the lock KEYS[1]. After
-- the owner's last write hold, all waiters are woken by '1' on the channel KEYS[3], unless
-- ARGV[4] is 0. This is so even if the owner reads on. If readers wait (KEYS[4]), their turn
-- begins, for ARGV[4] ms.
-- A mark KEYS[2] that the client of ARGV[5] left after a refusal is deleted.
-- Returns the nonce, or {nonce, 0} if the hold was gone already.
-- include quorum_rw/qrw
local client, wakes = string.sub(ARGV[5], 1, 36), ARGV[4] ~= '0'
if wakes and redis.pcall('GET', KEYS[2]) == client then
  redis.pcall('DEL', KEYS[2])
end
local member = 'w:' .. me
-- include quorum_rw/qrw_remove
-- All members left have the same owner. The number looked at is limited, because waking a
-- waiter too early costs only a round.
-- include quorum_rw/qrw_live
local left = wakes and last[2] and live(KEYS[1], 0, 1000) or {}
for i = 1, #left, 2 do
  wakes = wakes and string.sub(left[i], 1, 1) ~= 'w'
end
if wakes then
  if type(redis.pcall('GET', KEYS[4])) == 'string' then
    redis.pcall('SET', KEYS[4], 'turn:' .. ARGV[4], 'PX', ARGV[4])
  end
  redis.pcall('PUBLISH', KEYS[3], '1')
end
return ARGV[1]
