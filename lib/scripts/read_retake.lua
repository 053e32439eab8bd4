-- As read_extend, and where no other has the write lock it is taken, whoever waits: for a
-- master that lost or never had the hold of a lock that a majority has just confirmed.
-- Returns {nonce, 1}, or {nonce, 0} where another has it.
-- include rw_holds
-- include rw_gaps
-- include rw_stands
-- include rw_read
local code = take()
return {ARGV[1], code == 1 and 1 or 0}
