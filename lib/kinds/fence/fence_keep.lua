-- R11: Around a script that extends a lock, or takes it again: while the lock is ours, its
-- counters are raised to its fencing token.
-- The last arguments are:
--   the number of counters, which are the last KEYS
--   the token
--   for how many us a token may be ahead of this master's clock: half of the guard's window
--   (rl_fence_taken_ahead_us)
--   1: this is a write-back, and this master is to count as having the token; else 0
--   the life of a counter in ms (0: it has no end)
-- A token further ahead is not written, and a write-back of it ends in an error. If this master
-- lost its counters, it would go by its clock, which would not be above that token. With `fencing
-- strict` a write-back shows the certificate, and clocks do not matter. A token that is too far
-- above those of this master is not written then. It raises the certificate as far as may be, so
-- that a master which lagged behind catches up.
-- Returns what the script inside returns.
local function keep(KEYS, ARGV)
-- script
end
-- include fence/fence_certificate
-- include fence/fence_counter
local first = last - tonumber(ARGV[words - 4]) + 1
local token, life = ARGV[words - 3], ARGV[words]
local reply = keep({unpack(KEYS, 1, first - 1)}, {unpack(ARGV, 1, words - 5)})
if reply ~= ARGV[1] then
  return reply
end
certify(string.format('%.0f', math.min(tonumber(token), most)))
for i = first, last do
  local number = number_in(KEYS[i])
  if number == -1 then
    return no_number(KEYS[i])
  elseif (number or 0) < tonumber(token) then
    local up_to, whose = most, 'tokens'
    if not strict then
      local time = redis.call('TIME')
      up_to, whose = time[1] * 1000000 + time[2] + ARGV[words - 2], 'clock'
    end
    if tonumber(token) <= up_to then
      redis.call('SET', KEYS[i], token)
    elseif ARGV[words - 1] == '1' then
      return redis.error_reply(
        'ERR the fencing token is too far ahead of this master\'s ' .. whose)
    end
  end
  if life ~= '0' then
    redis.call('PEXPIRE', KEYS[i], life)
  end
end
return reply
