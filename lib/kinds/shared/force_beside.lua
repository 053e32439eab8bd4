-- Delete the keys beside a lock, if their type, a TTL and one of their values show that they
-- belong to a lock. By pcall: without a right to such a key, the key is left to its TTL.
local client_id = '^%x+%-%x+%-%x+%-%x+%-%x+$'

local function drop_beside(word, strings, members)
  local key = own_key(KEYS[1], word)
  local value, known = redis.pcall('GET', key), strings
  if type(value) == 'table' then
    value, known = redis.pcall('SRANDMEMBER', key), members
  end
  for _, pattern in ipairs(type(value) == 'string' and known or {}) do
    if string.find(value, pattern) and redis.call('PTTL', key) >= 0 then
      redis.call('DEL', key)
    end
  end
end

-- The leases of the lock's holders, ours and Redisson's. A lock with very many holders must not
-- stop the master for long: its leases are left to their TTL.
local function drop_leases()
  local left = 20000
  local all = redis.call('HLEN', KEYS[1]) <= 10000 and redis.call('HGETALL', KEYS[1]) or {}
  for at = 1, #all, 2 do
    for i = 1, math.min(left, tonumber(all[at + 1]) or 0) do
      local key = derived('') .. ':' .. all[at] .. ':rwlock_timeout:' .. i
      if type(redis.pcall('GET', key)) == 'string' and redis.call('PTTL', key) >= 0 then
        redis.call('DEL', key)
      end
      left = left - 1
    end
  end
end
