-- As reentrant_extend, but a free lock is taken. A majority has just confirmed the lock, and
-- this master lost or never had it.
-- Returns the nonce, or {nonce, 0} if another has it, or other data is under that name.
-- include shared/foreign_data
-- include shared/redisson_count
-- include reentrant/reentrant
-- include reentrant/reentrant_lasts
-- include shared/describe_key
-- include reentrant/reentrant_take
if take() ~= 1 then
  return {ARGV[1] .. '-', 0}
end
return ARGV[1]
