-- Make the lock KEYS[1] of the owner ARGV[2] last at least ARGV[4] ms more, if ARGV[3] is one
-- of the owner's tokens KEYS[2].
-- Both keys end together. If the lock ends more than ARGV[5] ms before the tokens, a peer of
-- the same owner has shortened it. Or the lock ended and the peer took it anew, so it may have
-- been free in between. The script then refuses but deletes nothing, because the caller relies
-- on the lock until the answer arrives.
-- Returns the nonce, or a refusal (not_ours.lua) if the lock is gone, another's, or shortened.
-- The usual case goes first, before most functions are made: the owner counts, with that token.
local has = redis.pcall('HMGET', KEYS[1], ARGV[2], 'mode')
if has[2] or not string.find(has[1] or '', '^%d%d?%d?$') or
  redis.pcall('SISMEMBER', KEYS[2], ARGV[3]) ~= 1 then
-- include shared/foreign_data
-- include shared/redisson_count
-- include reentrant/reentrant
-- include shared/own_key
-- include shared/not_ours
  if not count_of_owner() or not among_tokens('SISMEMBER') then
    return not_ours(KEYS[1])
  end
end
-- include reentrant/reentrant_lasts
local left = redis.call('PTTL', KEYS[1])
if left >= 0 and left + ARGV[5] < redis.call('PTTL', KEYS[2]) then
  return {ARGV[1] .. '-', 0}
end
at_least(KEYS[1], ARGV[4])
at_least(KEYS[2], ARGV[4])
return ARGV[1]
