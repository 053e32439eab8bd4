-- Data of another shape under the note's name stays.
local function leave_note(left)
  local key, now = own_key(KEYS[1], 'broken'), redis.pcall('TIME')
  local ms, was = tonumber(ARGV[5]), redis.pcall('GET', key)
  local at = string.match(type(was) == 'string' and was or '', '^(%d+) ')
  if now.err or was and not (at and #at < 17) then
    return
  end
  at = string.format('%.0f', now[1] * 1000 + math.floor(now[2] / 1000))
  redis.pcall('SET', key, at .. ' ' .. ARGV[4], 'PX', left > 0 and math.min(left, ms) or ms)
end
