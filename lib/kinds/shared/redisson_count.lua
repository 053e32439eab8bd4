-- An owner's count in a lock of Redisson's format, as a number. False or nil: not a count.
local function counted(text)
  return text and #text < 16 and string.match(text, '^%d+$') and tonumber(text)
end
