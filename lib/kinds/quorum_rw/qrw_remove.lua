-- Remove the hold `member`, or return that it is gone. Usually no hold has expired: the first
-- one to end has not.
local first = redis.pcall('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if not first[2] or tonumber(first[2]) <= now or redis.pcall('ZREM', KEYS[1], member) ~= 1 then
-- include shared/other_data
-- include quorum_rw/qrw_tidy
  if tidy(KEYS[1]) or redis.call('ZREM', KEYS[1], member) == 0 then
    return {ARGV[1], 0}
  end
end
-- include quorum_rw/qrw_last
