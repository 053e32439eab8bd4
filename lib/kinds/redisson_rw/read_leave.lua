-- The waiter ARGV[2] wants the read lock KEYS[1] no longer: its client goes out of the readers
-- KEYS[4] who wait.
-- Returns {nonce, 1}.
local client = string.sub(ARGV[2], 1, 36)
-- include redisson_rw/rw_turn
goes_out()
return {ARGV[1], 1}
