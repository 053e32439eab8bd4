-- The count of an owner of Redisson's locks as a number; false, nil: it is none.
local function counted(text)
  return text and #text < 16 and string.match(text, '^%d+$') and tonumber(text)
end
