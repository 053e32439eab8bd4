-- A lock has an end, and nothing but counts beside its mode; of many fields that is believed.
local function is_lock()
  local all = call('HLEN', KEYS[1]) <= 16 and call('HGETALL', KEYS[1]) or {}
  for i = 1, #all, 2 do
    if all[i] ~= 'mode' and not string.find(all[i + 1], '^%d+$') then
      return false
    end
  end
  return call('PTTL', KEYS[1]) >= 0
end
-- What stands under the name: its mode; 'free'; or nil and what it is, if that is no such lock.
local function what_mode()
  local mode, there = get('mode')
  if (mode == 'read' or mode == 'write') and is_lock() then
    return mode
  elseif there then
    return nil, there == 'string' and 'a plain lock, or data' or 'a ' .. there
  elseif call('EXISTS', KEYS[1]) == 0 then
    return 'free'
  end
  return nil, mode and 'a hash that is no lock' or 'a reentrant lock, or data'
end
-- Who has it, for whoever is refused.
local function refuse(mode)
  local many = call('HLEN', KEYS[1]) - 1
  local who = many .. ' readers'
  local few = mode == 'write' or many == 1
  for _, field in ipairs(few and call('HKEYS', KEYS[1]) or {}) do
    if field ~= 'mode' and (mode == 'read' or string.sub(field, -6) == ':write') then
      who = field
    end
  end
  return 0, call('PTTL', KEYS[1]), who, mode == 'read'
end
