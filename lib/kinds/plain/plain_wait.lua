-- Take the lock KEYS[1] for the token ARGV[2] during ARGV[3] ms, if it is free or reserved for
-- the waiter ARGV[4]. Otherwise put that waiter into the queue KEYS[2], which lives for ARGV[6]
-- ms more.
-- The waiter's score is the server's clock less ARGV[5], the us that it has waited. All masters
-- thus agree on the order of waiters, whenever each master hears of them.
-- Returns:
--   nonce: taken
--   {nonce, 0, remaining ms (-1: for ever), holder, number of waiters before this one (-1: the
--     waiter could not be queued)}
--   {nonce, 3, remaining ms (-1: for ever), text, -1}: other data is under that name
local holder = redis.pcall('GET', KEYS[1])
if type(holder) == 'table' then
-- include shared/foreign_data
-- include shared/foreign_kind
  local what = other_kind(KEYS[1], holder)
  return {ARGV[1] .. '-', 3, redis.call('PTTL', KEYS[1]), what, -1}
end
if not holder or holder == 'redlock:next:' .. ARGV[4] then
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
  redis.pcall('ZREM', KEYS[2], ARGV[4])
  return ARGV[1]
end
-- include shared/waiters
local now, place = redis.pcall('TIME'), -1
if not now.err and is_free_or_ours(KEYS[2]) then
  local since = string.format('%.0f', now[1] * 1000000 + now[2] - ARGV[5])
  if type(redis.pcall('ZADD', KEYS[2], since, ARGV[4])) == 'number' then
    redis.pcall('PEXPIRE', KEYS[2], ARGV[6])
    place = redis.pcall('ZRANK', KEYS[2], ARGV[4])
  end
end
place = type(place) == 'number' and place or -1
return {ARGV[1] .. '-', 0, redis.call('PTTL', KEYS[1]), string.sub(holder, 1, 512), place}
