-- What a look at a marker ends with: `own` is set, if it is another text, and the quarantine KEYS[2]
-- begun or raised, if there is a reason (`found`, else nil). `more` goes behind `own`, if there is
-- room. `why` is what is told.
if #own + #more < 160 then
  own = own .. more
end
-- include marker/marker_began
local look = ARGV[4] == 'look' or found == 'foreign' or found and strange
if own ~= text and not look then
  redis.call('SET', KEYS[1], own)
end
if left == -2 and not found then
  return {ARGV[1], run, why, 0, own}
end
begun = not strange and begun or 0 -- long ago: what is strange is not made to last longer
local again = found or begun > now
if again then
  begun = now
end
local least = ARGV[3] - (now - begun)
if left ~= -1 and left < least then
  left = least
  again = true
end
if look then
  again = false
end
if again then
  redis.call('SET', KEYS[2], string.format('%.0f', begun), 'PX', string.format('%.0f', left))
end
if strange and (not found or left == -1 and found ~= 'foreign') then
  why = 'strange'
end
return {ARGV[1], run, why, left == 0 and 1 or left, look and found and '' or own}
