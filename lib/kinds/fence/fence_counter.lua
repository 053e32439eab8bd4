-- The number in a counter, which a fencing token must exceed. False: there is no counter yet.
-- -1: there is something else, or a number that is not believed (fence_certificate).
local function number_in(counter)
  local text = text_of(counter)
  if not text then
    return false
  end
  local number = type(text) == 'string' and #text < 17 and string.match(text, '^%d+$')
  number = number and tonumber(number)
  return number and number < most and number or -1
end
local function no_number(counter)
  return redis.error_reply('ERR the fencing counter ' .. counter ..
    ' is no number that tokens can go on from')
end
