-- What stands under a name: 'free', the format of a lock, or 'data'; and its type. A hash or a
-- set that is a lock has an end (TTL), unless `endless` says that one without is taken for one. The
-- hash holds nothing but counts and maybe a mode; the members of the set begin as those of
-- read-write locks on several masters do. GET first: who has but the rights that plain locks need
-- gets no further with them.
local function found(name, endless)
  local plain = redis.pcall('GET', name)
  if not plain then
    return 'free'
  elseif type(plain) == 'string' then
    return 'plain'
  end
  local there, ends = redis.call('TYPE', name).ok, endless or redis.call('PTTL', name) >= 0
  if there == 'hash' and ends then
    local fields, mode = redis.call('HLEN', name), redis.call('HGET', name, 'mode')
    local others = (mode == 'read' or mode == 'write') and 1 or 0
    if not mode and fields == 1 or others == 1 then
      for _, value in ipairs(fields < 10000 and redis.call('HVALS', name) or {mode}) do
        others = others - (string.find(value, '^%d+$') and 0 or 1)
      end
      if others == 0 then
        return mode and 'read-write' or 'reentrant', there
      end
    end
  elseif there == 'zset' and ends and
    string.find(redis.call('ZRANGE', name, 0, 0)[1], '^[rw]:%d+:') then
    return 'read-write', there
  end
  return 'data', there
end

-- As Redisson derives names; not in KEYS, so that rights to NAME must do for a plain lock.
local function derived(prefix)
  local name = KEYS[1]
  return prefix .. (string.find(name, '{', 1, true) and name or '{' .. name .. '}')
end
