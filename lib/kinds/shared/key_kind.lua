-- Returns the format of the lock under a name, or 'free', or 'data'; and the type of the key.
-- A hash or a set counts as a lock only if it has a TTL, unless `endless` is true. A lock's
-- hash has only counts and at most one mode. In a lock's set, the members begin as those of
-- read-write locks on several masters do.
-- GET comes first, because a user with only the rights that plain locks need may run nothing
-- else.
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

-- The names that Redisson derives, or keys.h for it. They are not in KEYS, because rights to NAME
-- alone must be enough for a plain lock.
local function derived(prefix)
  local name = KEYS[1]
  local bare = not string.find(name, '{', 1, true) or string.find(name, '^{[^{]*}$')
  return prefix .. (bare and '{' .. name .. '}' or name)
end
