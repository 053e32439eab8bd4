-- What every look at a marker begins with: which server this is, and what stands at KEYS[1]. The
-- server names itself, because a proxy may send this to another server than what was asked before.
-- include shared/text_of
local function told(section, field)
  local word = string.match(redis.call('INFO', section), '\n' .. field .. ':(%w+)') or ''
  return #word <= 40 and word or ''
end
local run, replication = told('server', 'run_id'), told('replication', 'master_replid')
if told('replication', 'role') ~= 'master' then
  return {ARGV[1], run, 'replica', 0, ''}
end
local marker = text_of(KEYS[1])
local text = type(marker) == 'string' and marker or ''
