-- Take the lock KEYS[1] to read, for the owner ARGV[2] with the token ARGV[3], for ARGV[4] ms.
-- Another owner's writer refuses it. So does the mark KEYS[2] of a waiting writer, unless the
-- owner reads or writes already.
-- Returns:
--   {nonce, 1}: taken
--   {nonce, 0, remaining ms, holder}: a writer keeps it out
--   {nonce, 3, remaining ms (-1: for ever), text}: other data is under that name
-- include quorum_rw/qrw
-- The usual case goes first, before any function is made: nobody has the lock, nor waits for it.
local there = redis.pcall('ZRANGE', KEYS[1], 0, 0)
if not there[1] and not there.err and redis.pcall('EXISTS', KEYS[2]) == 0 and
  string.find(ARGV[4] or '', '^%d+$') then
  local ends = string.format('%.0f', now + ARGV[4] + 1)
  if redis.pcall('ZADD', KEYS[1], ends, 'r:' .. me) == 1 then
    redis.call('PEXPIREAT', KEYS[1], ends)
    return {ARGV[1], 1}
  end
end
-- include shared/other_data
-- include quorum_rw/qrw_owner
-- include quorum_rw/qrw_tidy
-- include quorum_rw/qrw_put
-- include quorum_rw/qread
-- include quorum_rw/qread_take
local code, left, holder = take()
if code == 1 then
  return {ARGV[1], 1}
end
return {ARGV[1], code, left, holder}
