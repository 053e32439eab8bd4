-- As several_extend, and those of the locks that nobody has are taken: for a master that lost or
-- never had keys of what a majority has just confirmed.
-- Returns {nonce, 1}, or {nonce, 0} where another has one; then all are left as they are.
-- include shared/other_data
-- include shared/holder
for i = 1, #KEYS do
  local holder = holder_of(KEYS[i])
  if holder and holder ~= ARGV[2] then
    return {ARGV[1], 0}
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
return {ARGV[1], 1}
