-- Around a script that extends a lock, or takes it again: while the lock is ours, its counters
-- are not below its fencing token.
-- The last arguments are the number of counters, which are the last KEYS; the token; and the
-- life of a counter in ms (0: it has no end).
-- Returns what the script inside returns.
local function keep(KEYS, ARGV)
-- script
end
-- include fence/fence_counter
local first = #KEYS - tonumber(ARGV[#ARGV - 2]) + 1
local token, life = ARGV[#ARGV - 1], ARGV[#ARGV]
local reply = keep({unpack(KEYS, 1, first - 1)}, {unpack(ARGV, 1, #ARGV - 3)})
for i = first, reply[2] == 1 and #KEYS or 0 do
  local number = number_in(KEYS[i])
  if number == -1 then
    return no_number(KEYS[i])
  elseif (number or 0) < tonumber(token) then
    redis.call('SET', KEYS[i], token)
  end
  if life ~= '0' then
    redis.call('PEXPIRE', KEYS[i], life)
  end
end
return reply
