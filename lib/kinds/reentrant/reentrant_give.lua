-- Remove the token ARGV[3] of the owner ARGV[2] from KEYS[2], and lower the owner's count in
-- the lock KEYS[1]. The lock is deleted when neither count nor tokens are left. Sets `mine`:
-- was the token there?
-- The usual case goes first, before any function is made: the owner counts, with that token.
local has = redis.pcall('HMGET', KEYS[1], ARGV[2], 'mode')
local count = not has[2] and string.find(has[1] or '', '^%d%d?%d?$') and has[1]
local mine = count and redis.pcall('SREM', KEYS[2], ARGV[3]) == 1
if not mine then
-- include shared/foreign_data
-- include shared/redisson_count
-- include reentrant/reentrant
  count = count_of_owner()
  mine = count and among_tokens('SREM')
end
local left = mine and math.max(count - 1, redis.call('SCARD', KEYS[2]))
if left == 0 then
  redis.call('DEL', KEYS[1])
elseif left then
  redis.call('HSET', KEYS[1], ARGV[2], left)
end
