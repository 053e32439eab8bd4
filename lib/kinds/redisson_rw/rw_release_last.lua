-- The usual case goes first, before any function is made: the lock has no other hold.
local gone, free, only = nil, nil, KEYS[2] .. ':' .. field .. ':rwlock_timeout:1'
local has = redis.pcall('HMGET', KEYS[1], 'mode', field)
if has[1] == was and has[2] == '1' and redis.pcall('GET', only) == ARGV[3] and
  redis.call('HLEN', KEYS[1]) == 2 and redis.pcall('DEL', only) == 1 then
  redis.call('DEL', KEYS[1])
  gone, free = 1, true
end
