-- R11: With `fencing strict` the last two of ARGV are the key of this master's certificate
-- (fence_join), and its id, as the client knew it when its round began. Without the certificate,
-- this master's counters may be lost. With another id, what the round has from others may be.
-- Else the last two are numbers.
-- include shared/text_of
-- include fence/fence_text
local last, words = #KEYS, #ARGV
local strict = not tonumber(ARGV[words - 1]) and ARGV[words - 1]
local word, id, base, greatest, server
-- Tokens jump up to this number, and go on from there by steps of one.
local ceiling = 9007199254740991
-- No counter and no other master's token is believed that is above this one. So no number that
-- one party sets brings what is shared by all names to its end.
local most = 9007199254740991
if strict then
  words = words - 2
  word, id, base, greatest, server = certificate(text_of(strict))
  if word ~= 'certified' then
    return redis.error_reply('UNCERTIFIED its fencing counters may be lost')
  elseif id ~= ARGV[#ARGV] then
    return redis.error_reply('UNCERTIFIED masters lost fencing counters during the round')
  end
  ceiling = 4503599627370496
  most = math.min(most, math.max(ceiling, tonumber(greatest)) + 1048576)
end
-- The certificate says so before anybody is told this token.
local function certify(token)
  if strict and tonumber(token) > tonumber(greatest) then
    redis.call('SET', strict, table.concat({'certified', id, base, token, server}, ' '))
  end
end
