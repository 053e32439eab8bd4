-- R11: What a certificate's text says: word, id, base, greatest, and the server's ids. Nothing,
-- if it is not of the shape that fence_join writes, and clients read.
local function certificate(text)
  local word, id, base, greatest, server = string.match(type(text) == 'string' and text or '',
    '^(%l+) ([%da-f]+) (%d+) (%d+) (%w+ %w*)$')
  if word and #word < 16 and #id == (word == 'certified' and 32 or 16) and
    #base < 17 and #greatest < 17 and
    math.max(tonumber(base), tonumber(greatest)) < 9007199254740992 then
    return word, id, base, greatest, server
  end
end
