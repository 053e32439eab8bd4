-- A lock has a TTL, and all fields but the mode are counts. In a hash with many fields only the
-- owner's own are checked.
local function is_lock()
  local all = call('HLEN', KEYS[1]) <= 16 and call('HGETALL', KEYS[1])
  for i = 1, all and #all or 0, 2 do
    if all[i] ~= 'mode' and not as_count(all[i + 1]) then
      return false
    end
  end
  for _, field in ipairs(all and {} or {ARGV[2], ARGV[2] .. ':write'}) do
    local value = get(field)
    if value and not as_count(value) then
      return false
    end
  end
  return call('PTTL', KEYS[1]) >= 0
end
-- The lock's mode, or 'free'. Nil and a text: other data is under the name.
local function what_mode()
  local mode, there = get('mode')
  if (mode == 'read' or mode == 'write') and is_lock() then
    return mode
  elseif there == 'string' then
    return nil, 'a string (a plain lock, or data)'
  elseif there then
    return nil, there == 'zset' and 'a sorted set' or 'a ' .. there
  elseif call('EXISTS', KEYS[1]) == 0 then
    return 'free'
  end
  local counts = not mode and call('HLEN', KEYS[1]) == 1 and is_lock()
  return nil, counts and 'a reentrant or a fair lock' or 'a hash that is no lock'
end
-- The answer to a refused owner, with the lock's holder.
local function refuse(mode)
  local many = call('HLEN', KEYS[1]) - 1
  local who = many .. ' readers'
  local few = many == 1 or mode == 'write' and many <= 16
  for _, field in ipairs(few and call('HKEYS', KEYS[1]) or {}) do
    local owner = mode == 'read' and field or string.match(field, '^(.*):write$')
    who = field ~= 'mode' and owner or who
  end
  return 0, call('PTTL', KEYS[1]), who, mode == 'read'
end
