-- The number in a counter, which a fencing token must exceed. False: there is no counter yet.
-- -1: there is something else, or no number above it is exact any more.
local function number_in(counter)
  local text = redis.call('GET', counter)
  if not text then
    return false
  end
  local number = #text < 17 and string.match(text, '^%d+$') and tonumber(text)
  return number and number < 9007199254740991 and number or -1
end
local function no_number(counter)
  return redis.error_reply('ERR the fencing counter ' .. counter .. ' is no number below 2^53')
end
