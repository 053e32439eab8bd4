-- Remove the hold `member`, or return that it is gone. Usually no hold has expired: the first
-- one to end has not.
local first = redis.pcall('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if not first[2] or tonumber(first[2]) <= now or redis.pcall('ZREM', KEYS[1], member) ~= 1 then
-- include shared/foreign_data
-- include quorum_rw/qrw_tidy
  local had = not tidy(KEYS[1]) and redis.call('ZSCORE', KEYS[1], member)
  if not had or tonumber(had) <= now then
    return {ARGV[1] .. '-', 0}
  end
  redis.call('ZREM', KEYS[1], member)
end
-- include quorum_rw/qrw_last
