-- Give up the hold of the lock KEYS[1] to read, by the owner ARGV[2] with the token ARGV[3].
-- After the last one the readers' turn (KEYS[3]) is over and who waits is woken, by '0' on the
-- channel KEYS[2], unless ARGV[4] is 0.
-- Returns {nonce, 1}, or {nonce, 0} where it was gone already.
-- include shared/other_data
-- include quorum_rw/qrw
if tidy(KEYS[1]) or redis.call('ZREM', KEYS[1], 'r:' .. me) == 0 then
  return {ARGV[1], 0}
end
settle(KEYS[1])
if ARGV[4] ~= '0' and redis.call('EXISTS', KEYS[1]) == 0 then
  if string.find(tostring(redis.pcall('GET', KEYS[3])), '^turn:') then
    redis.call('DEL', KEYS[3])
  end
  redis.pcall('PUBLISH', KEYS[2], '0')
end
return {ARGV[1], 1}
