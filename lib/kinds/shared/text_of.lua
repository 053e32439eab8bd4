-- What is at a key, as GET tells it; false: nothing, a table: data of another type. Where a right
-- to look is missing, that is the script's error: it says nothing about the data.
local function text_of(key)
  local text = redis.pcall('GET', key)
  if type(text) == 'table' and not string.find(text.err, 'WRONGTYPE', 1, true) then
    redis.call('GET', key)
  end
  return text
end
