-- With `fencing strict` the last of KEYS is this master's certificate (fence_join), and the last
-- of ARGV is its id, as the client knew it when its round began. Without the certificate, this
-- master's counters may be lost. With another id, what the round has from others may be.
local strict = KEYS[#KEYS] == 'redlock:fencing'
local last, words = #KEYS, #ARGV
local id, base, greatest, server
if strict then
  last, words = last - 1, words - 1
  local text = redis.call('GET', KEYS[#KEYS])
  id, base, greatest, server =
    string.match(text or '', '^certified (%x+) (%d+) (%d+) (.+)$')
  if not id then
    return redis.error_reply('UNCERTIFIED its fencing counters may be lost')
  elseif id ~= ARGV[#ARGV] then
    return redis.error_reply('UNCERTIFIED masters lost fencing counters during the round')
  end
end
-- The certificate says so before anybody is told this token.
local function certify(token)
  if strict and tonumber(token) > tonumber(greatest) then
    redis.call('SET', KEYS[#KEYS],
      table.concat({'certified', id, base, token, server}, ' '))
  end
end
