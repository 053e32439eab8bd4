-- As several_extend, but free locks are taken. A majority has just confirmed the locks, and
-- this master lost or never had some of their keys.
-- Returns the nonce. If another has a lock, returns {nonce, 0} and changes nothing.
-- include shared/foreign_data
-- include shared/holder_text
for i = 1, #KEYS do
  local holder = holder_of(KEYS[i])
  if holder and holder ~= ARGV[2] then
    return {ARGV[1] .. '-', 0}
  end
end
for i = 1, #KEYS do
  local left = redis.call('PTTL', KEYS[i])
  if left == -2 then
    redis.call('SET', KEYS[i], ARGV[2], 'PX', ARGV[3])
  elseif left < tonumber(ARGV[3]) then
    redis.call('PEXPIRE', KEYS[i], ARGV[3])
  end
end
return ARGV[1]
