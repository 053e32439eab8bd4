-- On each master, a read-write lock of several masters is a sorted set. A member is "r" or "w",
-- the length of its owner, the owner and the token, as in "r:5:alice:TOKEN". Its score is the
-- first ms of this server's clock at which the hold is over.
-- While a writer is in the set, all members have the same owner: no script adds any other.
local me = #ARGV[2] .. ':' .. ARGV[2] .. ':' .. ARGV[3]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
