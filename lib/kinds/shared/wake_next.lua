-- Wake the waiter that has been in the queue longest and still listens, and reserve the lock
-- for it during `ms`. A thousand waiters are tried at most. By pcall, because a missing right to
-- a channel, or foreign data in the queue's place, must not undo the caller's release.
-- Who listens by a pattern, such as a monitor, hears what is said to nobody as well. So only those
-- listen to a waiter's channel that are more than these.
local function hand_on(lock, queue, ms)
  for at = 0, 9 do
    local some = redis.pcall('ZRANGE', queue, 0, at == 0 and 0 or 110)
    if some.err or not some[1] or not is_waiter(some[1]) then
      return
    end
    if at == 0 and redis.pcall('ZREM', queue, some[1]) ~= 1 then -- nobody is told in vain
      return
    end
    local told, heard, all = {}, 0
    for i = 1, #some do
      if not is_waiter(some[i]) then break end
      told[i] = some[i]
      heard = redis.pcall('PUBLISH', 'redlock:wake:' .. string.sub(some[i], 1, 36), some[i])
      if heard ~= 0 then
        all = all or redis.pcall('PUBLISH', 'redlock:wake:-', '')
        if heard ~= all then break end
        heard = 0
      end
    end
    if at > 0 and redis.pcall('ZREM', queue, unpack(told)) ~= #told or type(heard) ~= 'number' then
      return
    end
    if heard > 0 then
      redis.call('SET', lock, 'redlock:next:' .. told[#told], 'PX', ms)
      return
    end
  end
end
