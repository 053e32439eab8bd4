-- R9: Say that this server is new: set its marker KEYS[1] without a quarantine, if nothing
-- stands here. Whatever stands could be what is left of locks. What clients say of themselves
-- and of their lists (KEYS[3], KEYS[4]) is none of that.
-- ARGV[1] is a nonce, ARGV[2] the number of the database. With ARGV[3], `replace`, somebody
-- says that the server before has answered nobody for the longest lease. Then a quarantine with
-- an end is over; clients have set it since. ARGV[4], if it is there, is the term in which Sentinels
-- name this server.
-- Returns {nonce, what, how many}: done; foreign: another program's data stands in the marker's
-- place, and stays; strange: in the quarantine's, or somebody set that by hand; marker, quarantine
-- or keys, which stand here and stay;
-- replica; nameless: INFO tells no run id.
-- include shared/text_of
local function told(section, field)
  return string.match(redis.call('INFO', section), '\n' .. field .. ':(%w+)') or ''
end
local run = told('server', 'run_id')
if told('replication', 'role') ~= 'master' then
  return {ARGV[1], 'replica', 0}
elseif run == '' then
  return {ARGV[1], 'nameless', 0}
end
-- include marker/marker_began
local marker = text_of(KEYS[1])
if marker and not string.find(type(marker) == 'string' and marker or '',
    '^%w+ %w* %d+ %l+[ %w%p]*$') then
  return {ARGV[1], 'foreign', 1}
end
local over = ARGV[3] == 'replace' and began and not strange
if not over and redis.call('EXISTS', KEYS[1]) == 1 then
  return {ARGV[1], 'marker', 1}
elseif not over and redis.call('EXISTS', KEYS[2]) == 1 then
  return {ARGV[1], strange and 'strange' or 'quarantine', 1}
end
local ours = redis.call('EXISTS', unpack(KEYS))
local keys = redis.call('DBSIZE') - ours
if keys > 0 then
  return {ARGV[1], 'keys', keys}
end
redis.call('DEL', KEYS[2])
redis.call('SET', KEYS[1],
  run .. ' ' .. told('replication', 'master_replid') .. ' ' .. ARGV[2] .. ' init' ..
  (ARGV[4] and ' @' .. ARGV[4] or ''))
return {ARGV[1], 'done', 0}
