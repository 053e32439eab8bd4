-- As write_extend, and where nobody else has the lock it is taken: for a master that lost or
-- never had the hold of a lock that a majority has just confirmed.
-- Returns {nonce, 1}, or {nonce, 0} where others have it.
-- include redisson_rw/rw_holds
-- include redisson_rw/rw_gaps
-- include redisson_rw/rw_stands
-- include redisson_rw/rw_write
local code = take(true)
return {ARGV[1], code == 1 and 1 or 0}
