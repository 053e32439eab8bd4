-- Wake the one in the queue who has waited longest and still listens, and keep the lock free
-- for it during ms. By pcall: no right to a channel, or foreign data where the queue should
-- be, must not undo the release that this belongs to.
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
