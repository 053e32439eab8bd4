-- A key of ours beside the lock `name`: keys.h has the same.
local function own_key(name, word)
  local stem = string.find(name, '}', 1, true) and name .. '{}' or '{' .. name .. '}'
  return stem .. ':redlock:' .. word
end
