-- R11: Around a script that takes a lock: a grant gets a fencing token. On this master, the
-- token is above all earlier ones of the lock.
-- The last arguments are:
--   the number of counters, which are the last KEYS
--   the token that the client proposes, which is its clock and some time more, in us
--   for how many us a proposal may be ahead of this master's clock: it is cut to that, which is
--   a quarter of the guard's window (rl_fence_granted_ahead_us)
--   the life of a counter in ms; 0: it has no end, as Redisson's
-- A token is never behind this master's clock: this master may have lost counters, or their last
-- changes, and does not know it. Its clock is above all tokens that it granted before, or that
-- were written to it (fence_keep).
-- With `fencing strict` tokens grow whatever its clock says; the clock only makes them jump. The
-- token is above what its certificate says, and a counter that is missing may have been the
-- greatest. No clock brings it above 2^52 then.
-- Returns what the script inside returns; if that is the nonce, it becomes {nonce, 1, token}.
local function take(KEYS, ARGV)
-- script
end
-- include fence/fence_certificate
-- include fence/fence_counter
local count, life = tonumber(ARGV[words - 3]), ARGV[words]
local first, before = last - count + 1, tonumber(base or 0)
for i = first, last do
  local number = number_in(KEYS[i])
  if number == -1 then
    return no_number(KEYS[i])
  end
  before = math.max(before, number or tonumber(greatest or 0))
end
if before >= 9007199254740991 then
  return redis.error_reply('ERR the fencing tokens of this master are at their end')
end
local reply = take({unpack(KEYS, 1, first - 1)}, {unpack(ARGV, 1, words - 4)})
if reply ~= ARGV[1] then
  return reply
end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local proposed = math.min(tonumber(ARGV[words - 2]), now + ARGV[words - 1])
local token = math.max(before + 1, math.min(math.max(proposed, now), ceiling))
local text = string.format('%.0f', token)
certify(text)
for i = first, last do
  if life == '0' then
    redis.call('SET', KEYS[i], text)
  else
    redis.call('SET', KEYS[i], text, 'PX', life)
  end
end
return {reply .. '-', 1, token}
