-- Make the fair lock KEYS[1] of the owner ARGV[2] last longer, as reentrant_extend does. If the
-- lock is free and no other owner comes first, take it, as fair_acquire does.
-- Returns the nonce, or {nonce, 0}.
-- include shared/foreign_data
-- include shared/redisson_count
-- include reentrant/reentrant
-- include reentrant/reentrant_lasts
-- include shared/describe_key
-- include reentrant/reentrant_take
-- include fair/fair_queue
-- include fair/fair_take
if fair_take() ~= 1 then
  return {ARGV[1] .. '-', 0}
end
return ARGV[1]
