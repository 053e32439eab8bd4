-- Make the hold with the token ARGV[3] in `field` last at least ARGV[4] ms more, if it exists.
local function extend(field)
  local i = find(field, ARGV[3])
  if i then
    at_least(lease(field, i), ARGV[4])
    at_least(KEYS[1], ARGV[4])
    keep_writes()
  end
  return i and 1 or 0
end
