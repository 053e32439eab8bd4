-- The lock `name` is not ours any more. If it was broken by hand (broken_note.lua), the refusal
-- says how many ms ago, and by whom. A missing right to look there is no error.
local function not_ours(name)
  local note = redis.pcall('GET', own_key(name, 'broken'))
  local at, who = string.match(type(note) == 'string' and note or '', '^(%d+) (.+)$')
  at = at and #at < 17 and at
  local now = at and redis.pcall('TIME') or {err = ''}
  if now.err then
    return {ARGV[1] .. '-', 0}
  end
  local ms = math.max(0, math.floor(now[1] * 1000 + now[2] / 1000 - at))
  return {ARGV[1] .. '-', 0, ms, string.sub(who, 1, 128)}
end
