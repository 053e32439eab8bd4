-- Take all the locks KEYS for the token ARGV[2] during ARGV[3] ms, if nobody has any of them.
-- Returns {nonce, 1}, or of the first one that is not to be had {nonce, 0, remaining ms (-1: for
-- ever), holder}, or {nonce, 3, remaining ms, what it is} where it is no plain lock.
-- include shared/other_data
-- include name_set/several_blocked
for i = 1, #KEYS do
  local holder = redis.pcall('GET', KEYS[i])
  if holder then
    return blocked(KEYS[i], holder)
  end
end
for i = 1, #KEYS do
  redis.call('SET', KEYS[i], ARGV[2], 'PX', ARGV[3])
end
return {ARGV[1], 1}
