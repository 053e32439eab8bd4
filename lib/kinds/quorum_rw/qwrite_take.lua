-- A mark that keeps readers out goes with the first writer that gets in, whoever left it: after
-- that one it is the readers' turn, too.
local function take_mark()
  local mark = redis.pcall('GET', KEYS[2])
  if type(mark) == 'string' then
    redis.call('DEL', KEYS[2])
  end
end

-- What is answered: 1; or 0, 2 or 3, the ms left, and who or what keeps the writer out; and
-- whether these are readers only.
local function take()
  local there = tidy(KEYS[1])
  if there then
    return 3, redis.call('PTTL', KEYS[1]), there
  end
  local all = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
  local holder, ends, reads, writes, written
  for i = 1, #all, 2 do
    local owner, writer = owner_of(all[i]), string.sub(all[i], 1, 1) == 'w'
    if owner == ARGV[2] then
      reads, writes = true, writes or writer
    else
      holder, ends, written = owner, tonumber(all[i + 1]), written or writer
    end
  end
  if holder and not reads then
    return 0, ends - now, holder, not written
  end
  if reads and not writes then
    return 2, tonumber(all[#all]) - now, holder or ARGV[2]
  end
  if not writes and string.find(tostring(redis.pcall('GET', KEYS[3])), '^turn:') then
    return 0, redis.call('PTTL', KEYS[3]), 'readers whose turn it is', true
  end
  put(KEYS[1], 'w:' .. me, ARGV[4])
  take_mark()
  return 1
end
