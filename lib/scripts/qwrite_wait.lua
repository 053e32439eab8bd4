-- As qwrite_acquire, for the waiter ARGV[5], which listens on the lock's channel. Where readers
-- keep it out, it leaves the mark KEYS[2] for ARGV[6] ms, which lets no more of them in. All
-- who listen are woken at once.
-- Returns {nonce, 1}, or {nonce, 0, remaining ms, holder, 0}, or {nonce, 2, remaining ms,
-- holder, -1} for a reader, or where something else stands under that name {nonce, 3, remaining
-- ms (-1: for ever), what, -1}.
-- include other_data
-- include qrw
-- include qwrite_take
local code, left, holder, readers = take()
if code == 1 then
  return {ARGV[1], 1}
end
if readers and type(redis.pcall('GET', KEYS[2])) ~= 'table' then
  redis.pcall('SET', KEYS[2], ARGV[5], 'PX', ARGV[6])
end
return {ARGV[1], code, left, holder, code == 0 and 0 or -1}
