-- R9: Before every script that takes or keeps a lock, with `guard strict`: has this server
-- still the keys that it had when the client read its marker? The last arguments are the keys of
-- the marker and of the quarantine, and that marker. They are gone before the script begins, which
-- thus finds the arguments that it knows.
-- The marker names the replication id. A copy of the marker, on a replica that was promoted or
-- in another process, stands beside another id.
-- Returns {nonce, 4} if the keys may be others, or a quarantine stands.
local marker, quarantine, key = table.remove(ARGV), table.remove(ARGV), table.remove(ARGV)
local told = redis.call('INFO', 'replication')
if redis.pcall('GET', key) ~= marker or redis.call('PTTL', quarantine) ~= -2 or
  not string.find(told, '\nrole:master\r', 1, true) or
  not string.find(told, '\nmaster_replid:' .. string.match(marker, ' (%w*)'), 1, true) then
  return {ARGV[1] .. '-', 4}
end
