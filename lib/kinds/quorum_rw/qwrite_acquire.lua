-- Take the lock KEYS[1] to write, for the owner ARGV[2] with the token ARGV[3], during ARGV[4]
-- ms, unless another owner has it. An owner that writes may take it once more. An owner that
-- only reads is refused, because it would wait for itself.
-- Success removes a waiting writer's mark KEYS[2]. If readers keep the waiter ARGV[5] out, its
-- client leaves that mark. During the readers' turn (KEYS[3]) no writer gets in.
-- Returns:
--   {nonce, 1}: taken
--   {nonce, 0, remaining ms, holder}: another keeps it out
--   {nonce, 2, remaining ms, holder}: this owner reads
--   {nonce, 3, remaining ms (-1: for ever), text}: other data is under that name
-- include quorum_rw/qrw
-- The usual case goes first, before any function is made: nobody has the lock, nor waits for it.
local there = redis.pcall('ZRANGE', KEYS[1], 0, 0)
if not there[1] and not there.err and redis.pcall('EXISTS', KEYS[2], KEYS[3]) == 0 and
  string.find(ARGV[4] or '', '^%d+$') then
  local ends = string.format('%.0f', now + ARGV[4] + 1)
  if redis.pcall('ZADD', KEYS[1], ends, 'w:' .. me) == 1 then
    redis.call('PEXPIREAT', KEYS[1], ends)
    return {ARGV[1], 1}
  end
end
-- include shared/other_data
-- include quorum_rw/qrw_owner
-- include quorum_rw/qrw_tidy
-- include quorum_rw/qrw_put
-- include quorum_rw/qwrite_take
-- include quorum_rw/qwrite_mark
local code, left, holder = take_or_mark()
if code == 1 then
  return {ARGV[1], 1}
end
return {ARGV[1], code, left, holder}
