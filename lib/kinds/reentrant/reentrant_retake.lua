-- As reentrant_extend, and where nobody else has the lock it is taken: for a master that lost or
-- never had what a majority has just confirmed.
-- Returns {nonce, 1}, or {nonce, 0} where another has it, or something else stands there.
-- include shared/other_data
-- include shared/counted
-- include reentrant/reentrant
-- include reentrant/reentrant_lasts
-- include shared/what_stands
-- include reentrant/reentrant_take
return {ARGV[1], take() == 1 and 1 or 0}
