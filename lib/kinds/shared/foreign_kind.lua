-- The data under a plain lock's name after GET failed there, in words, with the kinds of locks
-- that look like it.
local function other_kind(lock, failed)
  local what = other_data(lock, 'string', failed) or redis.call('GET', lock)
  if what == 'a hash' then
    return 'a hash (a reentrant, fair or read-write lock, or data)'
  end
  return what == 'a sorted set' and 'a sorted set (a read-write lock, or data)' or what
end
