-- As reentrant_extend, but a free lock is taken. A majority has just confirmed the lock, and
-- this master lost or never had it.
-- Returns {nonce, 1}, or {nonce, 0} if another has it, or other data is under that name.
-- include shared/foreign_data
-- include shared/redisson_count
-- include reentrant/reentrant
-- include reentrant/reentrant_lasts
-- include shared/describe_key
-- include reentrant/reentrant_take
return {ARGV[1], take() == 1 and 1 or 0}
