-- If the lock is `free`, for all or for readers, wake waiters as Redisson does. The last reader
-- sends '0'. A writer sends '1' to all waiters, even if its owner goes on as a reader.
-- After a writer the waiting readers KEYS[4] have their turn for ARGV[4] ms. By pcall, because
-- a missing right to KEYS[4] or to a channel must not make the release look failed.
if free and ARGV[4] ~= '0' then
  local waits = was == 'write' and redis.pcall('SCARD', KEYS[4])
  if type(waits) == 'number' and waits > 0 and redis.pcall('PEXPIRE', KEYS[4], ARGV[4]) == 1 then
    redis.pcall('SADD', KEYS[4], 'turn')
  end
  redis.pcall('PUBLISH', KEYS[3], was == 'write' and '1' or '0')
end
