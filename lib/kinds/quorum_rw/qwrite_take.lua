-- The first writer that gets in deletes the mark, also another client's, because the readers'
-- turn comes after this writer in any case.
local function take_mark()
  local mark = redis.pcall('GET', KEYS[2])
  if type(mark) == 'string' then
    redis.call('DEL', KEYS[2])
  end
end

-- At most this many members are looked at, those that end last. Any other members keep a writer
-- out as well. If those are its own owner's reads, the writer waits for itself without being
-- told.
local most = 128

-- Returns 1, or a refusal: 0, 2 or 3, the ms left, and the holder or the data found there. A
-- fourth value is true if only readers keep the writer out.
local function take()
  local there = tidy(KEYS[1])
  if there then
    return 3, redis.call('PTTL', KEYS[1]), there
  end
  local holder, ends, last, reads, writes, written
  for at = 0, most - 16, 16 do
    local some = live(KEYS[1], at, 16)
    last = last or some[2] and time_of(some[2])
    for i = 1, #some, 2 do
      local owner, writer = owner_of(some[i]), string.sub(some[i], 1, 1) == 'w'
      if owner == ARGV[2] then
        reads, writes = true, writes or writer
      else
        holder, ends = holder or owner, ends or time_of(some[i + 1])
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
