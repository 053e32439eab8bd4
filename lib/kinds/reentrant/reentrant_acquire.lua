-- Take the lock KEYS[1] for the owner ARGV[2], also if the owner has it already. ARGV[3] is
-- added to the owner's tokens KEYS[2]. Both keys last ARGV[4] ms at least.
-- Returns:
--   nonce: taken
--   {nonce, 0, remaining ms (-1: for ever), owner}: another owner has it
--   {nonce, 3, remaining ms, text}: other data is under that name
-- include reentrant/reentrant_free
-- include shared/foreign_data
-- include shared/redisson_count
-- include reentrant/reentrant
-- include reentrant/reentrant_lasts
-- include shared/describe_key
-- include reentrant/reentrant_take
local code, left, who = take()
if code == 1 then
  return ARGV[1]
end
return {ARGV[1] .. '-', code, left, who}
