-- Say that this server is new: set its marker KEYS[1] without a quarantine, if nothing stands
-- here. Whatever stands could be what is left of locks.
-- ARGV[1] is a nonce, ARGV[2] the number of the database.
-- Returns {nonce, what, how many}: done; marker, quarantine or keys, which stand here and stay;
-- replica; nameless: INFO tells no run id.
local function told(section, field)
  return string.match(redis.call('INFO', section), '\n' .. field .. ':(%w+)') or ''
end
local run = told('server', 'run_id')
if told('replication', 'role') ~= 'master' then
  return {ARGV[1], 'replica', 0}
elseif run == '' then
  return {ARGV[1], 'nameless', 0}
elseif redis.call('EXISTS', KEYS[1]) == 1 then
  return {ARGV[1], 'marker', 1}
elseif redis.call('EXISTS', KEYS[2]) == 1 then
  return {ARGV[1], 'quarantine', 1}
elseif redis.call('DBSIZE') > 0 then
  return {ARGV[1], 'keys', redis.call('DBSIZE')}
end
redis.call('SET', KEYS[1],
  run .. ' ' .. told('replication', 'master_replid') .. ' ' .. ARGV[2] .. ' init')
return {ARGV[1], 'done', 0}
