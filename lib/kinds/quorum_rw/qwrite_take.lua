-- A mark that keeps readers out goes with the first writer that gets in, whoever left it: after
-- that one it is the readers' turn, too.
local function take_mark()
  local mark = redis.pcall('GET', KEYS[2])
  if type(mark) == 'string' then
    redis.call('DEL', KEYS[2])
  end
end

-- So many in the set are looked at, the last ones to end. All others that there may be keep a
-- writer out as well. If they are its owner's reads it waits for itself, and is not told so.
local most = 128

-- What is answered: 1; or 0, 2 or 3, the ms left, and who or what keeps the writer out; and
-- whether these are readers only.
local function take()
  local there = tidy(KEYS[1])
  if there then
    return 3, redis.call('PTTL', KEYS[1]), there
  end
  local holder, ends, last, reads, writes, written
  for at = 0, most - 16, 16 do
    local some = redis.call('ZREVRANGE', KEYS[1], at, at + 15, 'WITHSCORES')
    last = last or tonumber(some[2])
    for i = 1, #some, 2 do
      local owner, writer = owner_of(some[i]), string.sub(some[i], 1, 1) == 'w'
      if owner == ARGV[2] then
        reads, writes = true, writes or writer
      else
        holder, ends = holder or owner, ends or tonumber(some[i + 1])
        written = written or writer
      end
    end
    if #some < 32 or writes or holder and reads then
      break
    end
  end
  if holder and not reads then
    return 0, ends - now, holder, not written
  end
  if reads and not writes then
    return 2, last - now, holder or ARGV[2]
  end
  if not writes and string.find(tostring(redis.pcall('GET', KEYS[3])), '^turn:') then
    return 0, redis.call('PTTL', KEYS[3]), 'readers whose turn it is', true
  end
  put(KEYS[1], 'w:' .. me, ARGV[4])
  take_mark()
  return 1
end
