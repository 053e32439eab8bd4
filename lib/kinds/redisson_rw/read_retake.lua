-- As read_extend, and where no other has the write lock it is taken, whoever waits: for a
-- master that lost or never had the hold of a lock that a majority has just confirmed.
-- Returns {nonce, 1}, or {nonce, 0} where another has it.
-- include redisson_rw/rw_holds
-- include redisson_rw/rw_gaps
-- include redisson_rw/rw_stands
-- include redisson_rw/rw_read
local code = take()
return {ARGV[1], code == 1 and 1 or 0}
