-- With `durable on`: does this server write all that it answers to its disk first? If so, the
-- stamp KEYS[2] says that of the process that the marker KEYS[1] names. If not, there is none.
-- A script can't ask CONFIG, so the client has. ARGV[2] is the run id of what has answered it,
-- and ARGV[3] what is wrong by that; or it is empty.
-- A rewrite may be the first one since the file was switched on: nothing counts before it is
-- over.
-- Returns {nonce, what is wrong}: another, off, failed, rewriting, or ARGV[3]; '': nothing.
local function told(section, line)
  return string.find(redis.call('INFO', section), '\n' .. line .. '\r', 1, true)
end
local why, marker = ARGV[3], redis.pcall('GET', KEYS[1])
local stamp = type(marker) == 'string' and string.match(marker, '^%w+ %w* %d+')
if not stamp or string.match(stamp, '^%w+') ~= ARGV[2] or
  not told('server', 'run_id:' .. ARGV[2]) then
  why = 'another'
elseif why ~= '' then
  stamp = nil
elseif not told('persistence', 'aof_enabled:1') then
  why = 'off'
elseif not told('persistence', 'aof_last_write_status:ok') or
  not told('persistence', 'aof_last_bgrewrite_status:ok') then
  why = 'failed'
elseif not told('persistence', 'aof_rewrite_in_progress:0') or
  not told('persistence', 'aof_rewrite_scheduled:0') then
  why = 'rewriting'
end
if why ~= '' then
  redis.call('DEL', KEYS[2])
elseif redis.pcall('GET', KEYS[2]) ~= stamp then
  redis.call('SET', KEYS[2], stamp)
end
return {ARGV[1], why}
