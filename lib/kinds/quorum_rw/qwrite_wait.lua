-- As qwrite_acquire, for a waiter that listens on the lock's channel. A message there wakes all
-- waiters at once.
-- Returns:
--   {nonce, 1}: taken
--   {nonce, 0, remaining ms, holder, 0}: another keeps it out
--   {nonce, 2, remaining ms, holder, -1}: this owner reads
--   {nonce, 3, remaining ms, text, -1}: other data is under that name
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
return {ARGV[1], code, left, holder, code == 0 and 0 or -1}
