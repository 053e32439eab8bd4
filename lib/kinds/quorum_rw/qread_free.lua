-- The usual case goes first, before any function is made: nobody has the lock, nor waits for it.
local there = redis.pcall('ZRANGE', KEYS[1], 0, 0)
if not there[1] and not there.err and redis.pcall('EXISTS', KEYS[2]) == 0 and
  string.find(ARGV[4] or '', '^%d+$') then
  local ends = string.format('%.0f', now + ARGV[4] + 1)
  if redis.pcall('ZADD', KEYS[1], ends, 'r:' .. me) == 1 then
    redis.call('PEXPIREAT', KEYS[1], ends)
    return ARGV[1]
  end
end
