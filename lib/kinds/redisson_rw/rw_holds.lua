-- The lock KEYS[1] is a hash that counts an owner's holds in a field, as Redisson does. Each
-- hold has a lease, a key beside the lock. The lease's value is the hold's token, and the hold
-- ends with its lease.
local call = redis.call
local function lease(field, i)
  return KEYS[2] .. ':' .. field .. ':rwlock_timeout:' .. i
end
-- A field of the lock. False, and the type of the key, if the key is no hash.
local function get(field)
  local value = redis.pcall('HGET', KEYS[1], field)
  local there = type(value) == 'table' and call('TYPE', KEYS[1]).ok
  if there == 'hash' or there == 'none' then
    call('HGET', KEYS[1], field) -- it failed for another reason
  end
  return not there and value, there
end
-- The count in a field. Nil: not a count, or more holds than a script should look at.
local most_holds = 9999
local function as_count(value)
  return string.find(value or '', '^%d%d?%d?%d?$') and tonumber(value)
end
local function count_of(field)
  return as_count(get(field)) or 0
end
local function find(field, token)
  for i = count_of(field), 1, -1 do
    if call('GET', lease(field, i)) == token then
      return i
    end
  end
end
local function at_least(key, ms)
  if call('PTTL', key) < tonumber(ms) then
    call('PEXPIRE', key, ms)
  end
end
-- A writer's leases last as long as the lock, so that each one still exists at its release.
local function keep_writes()
  local field, left = ARGV[2] .. ':write', call('PTTL', KEYS[1])
  for i = 1, count_of(field) do
    at_least(lease(field, i), left)
  end
end
