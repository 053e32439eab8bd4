-- Wake the waiter that has been in the queue longest and still listens, and reserve the lock
-- for it during `ms`. By pcall, because a missing right to a channel, or foreign data in the
-- queue's place, must not undo the caller's release.
local function hand_on(lock, queue, ms)
  for _ = 1, 1000 do
    local first = redis.pcall('ZRANGE', queue, 0, 0)
    if first.err or not first[1] then
      return
    end
    if redis.pcall('ZREM', queue, first[1]) ~= 1 then
      return
    end
    local heard = redis.pcall('PUBLISH', 'redlock:wake:' .. string.sub(first[1], 1, 36), first[1])
    if type(heard) ~= 'number' then
      return
    end
    if heard > 0 then
      redis.call('SET', lock, 'redlock:next:' .. first[1], 'PX', ms)
      return
    end
  end
end
