-- Take all the locks KEYS for the token ARGV[2] during ARGV[3] ms, if all are free.
-- Returns the nonce, or an answer about the first lock that is refused:
--   {nonce, 0, remaining ms (-1: for ever), holder}: another has it
--   {nonce, 3, remaining ms, text}: it is no plain lock
-- include shared/foreign_data
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
return ARGV[1]
