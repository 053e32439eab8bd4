-- The waiter ARGV[2] stops waiting. Delete its client's mark KEYS[1], and wake the readers that
-- the mark kept out by '1' on the lock's channel KEYS[2].
-- Returns the nonce.
local client = string.sub(ARGV[2], 1, 36)
if redis.pcall('GET', KEYS[1]) == client then
  redis.call('DEL', KEYS[1])
  redis.pcall('PUBLISH', KEYS[2], '1')
end
return ARGV[1]
