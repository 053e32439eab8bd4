-- The usual case goes first, before any function is made: the lock is free, and nobody waits.
-- The first hold in `field` gives the lock the mode `new_mode`.
if redis.pcall('HGET', KEYS[1], 'mode') == false and
  redis.pcall('EXISTS', KEYS[1], KEYS[3], KEYS[4]) == 0 and string.find(ARGV[4], '^%d+$') then
  local first = KEYS[2] .. ':' .. field .. ':rwlock_timeout:1'
  if redis.pcall('SET', first, ARGV[3], 'PX', ARGV[4]).ok then
    redis.call('HSET', KEYS[1], 'mode', new_mode, field, 1)
    redis.call('PEXPIRE', KEYS[1], ARGV[4])
    return ARGV[1]
  end
end
