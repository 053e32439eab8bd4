-- Take the read lock KEYS[1], as Redisson's RReadWriteLock has it, for the owner ARGV[2] and
-- the token ARGV[3] during ARGV[4] ms, if no other has it to write, and no writer waits (its
-- mark is KEYS[3]), or the owner has it already, or it is the turn of readers KEYS[4] among whom
-- is the client of the waiter ARGV[5]. KEYS[2] begins the names of its leases.
-- Returns {nonce, 1}, or {nonce, 0, remaining ms (-1: for ever), who has it}, or {nonce, 3,
-- remaining ms, what stands there that is no read-write lock}.
local field, new_mode = ARGV[2], 'read'
-- include redisson_rw/rw_free
-- include redisson_rw/rw_holds
-- include redisson_rw/rw_gaps
-- include redisson_rw/rw_stands
local client = string.sub(ARGV[5], 1, 36)
-- include redisson_rw/rw_turn
-- include redisson_rw/rw_read
local code, left, who = take(kept_out_ms)
if code == 1 then
  return {ARGV[1], 1}
end
return {ARGV[1], code, left, who}
