-- The waiter ARGV[2] stops waiting for the read lock KEYS[1]: remove its client from the
-- waiting readers KEYS[4].
-- Returns the nonce.
local client = string.sub(ARGV[2], 1, 36)
-- include redisson_rw/rw_turn
goes_out()
return ARGV[1]
