-- Extend the hold `member`. Usually no hold has expired: the first one to end has not.
local first = redis.pcall('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
local had = redis.pcall('ZSCORE', KEYS[1], member)
if not first[2] or tonumber(first[2]) <= now or type(had) ~= 'string' then
-- include shared/foreign_data
-- include quorum_rw/qrw_tidy
-- include shared/own_key
-- include shared/not_ours
  had = not tidy(KEYS[1]) and redis.call('ZSCORE', KEYS[1], member)
  if not had or tonumber(had) <= now then
    return not_ours(KEYS[1])
  end
end
-- include quorum_rw/qrw_put
put(KEYS[1], member, ARGV[4], had)
return ARGV[1]
