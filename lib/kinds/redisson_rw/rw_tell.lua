-- Where the lock is `free`, or free for readers, waiters are told as Redisson does: '0' by the
-- last reader, '1' to all by a writer, also where readers stay who were the writer. After a
-- writer the waiting readers KEYS[4] have their turn, for ARGV[4] ms. By pcall: no right to that
-- or to a channel must make the release look undone.
if free and ARGV[4] ~= '0' then
  local waits = was == 'write' and redis.pcall('SCARD', KEYS[4])
  if type(waits) == 'number' and waits > 0 and redis.pcall('PEXPIRE', KEYS[4], ARGV[4]) == 1 then
    redis.pcall('SADD', KEYS[4], 'turn')
  end
  redis.pcall('PUBLISH', KEYS[3], was == 'write' and '1' or '0')
end
