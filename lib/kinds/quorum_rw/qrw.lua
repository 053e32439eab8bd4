-- A read-write lock of several masters is a sorted set on each. A member is "r" or "w", the
-- length of its owner, the owner and the token, as in "r:5:alice:TOKEN"; its score is the first
-- ms of this server's clock at which it is over. While a writer is in the set, everybody in it
-- is the same owner: no script puts anything else in.
local me = #ARGV[2] .. ':' .. ARGV[2] .. ':' .. ARGV[3]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
