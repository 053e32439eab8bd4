-- The queue of a fair lock, in Redisson's format. KEYS[3] has the owners in order. KEYS[4] has
-- each owner's deadline in ms of the server's clock, counted from the one before it. An owner
-- that leaves therefore takes its share back from all owners behind it.
-- KEYS[5] is this library's own: the time at which each of its owners was last heard of. Such
-- an owner is removed after a silence of the last argument's ms. An owner of Redisson's is
-- removed as Redisson does: when it is first and its deadline is over.
-- A queue with more than `most` owners is not read as a whole, unless it is damaged: see
-- clear_front(), move() and mend().
local share, life, clock, most = 300000, tonumber(ARGV[#ARGV]), redis.call('TIME'), 128
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

-- While an owner of this library is queued, all keys of the queue get one end, after the last
-- deadline in it. They end at one moment, because an owner without a deadline would be first
-- for ever.
-- If a queue has a TTL but KEYS[5] is missing, KEYS[5] was evicted. The remaining owners can
-- then not be told apart, and the queue keeps its end.
local lost = false
local function set_end()
  if redis.call('EXISTS', KEYS[5]) == 0 and not lost then
    redis.call('PERSIST', KEYS[3])
    redis.call('PERSIST', KEYS[4])
    return
  end
  local last = redis.call('ZRANGE', KEYS[4], -1, -1, 'WITHSCORES')
  local till = math.max(now, tonumber(last[2]) or 0) + share + 60000
  till = string.format('%.0f', math.min(till, now + 30 * 86400000))
  for i = 3, 5 do
    redis.call('PEXPIREAT', KEYS[i], till)
  end
end

-- A sorted set as a table, and as a list.
local function read(key)
  local list, score = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES'), {}
  for i = 1, #list, 2 do
    score[list[i]] = tonumber(list[i + 1])
  end
  return score, list
end

-- Write the queue anew, without the owners that are gone, and with one place and one deadline
-- for each other owner. A Redisson owner whose deadline is missing has mostly gone already, so
-- it gets a shorter one.
local function mend()
  local heard = read(KEYS[5])
  local score, list = read(KEYS[4])
  local queue = redis.call('LRANGE', KEYS[3], 0, -1)
  local placed, done, less, front = #queue, {}, 0, true
  local last = now + math.max(0, redis.call('PTTL', KEYS[1]))
  for i = 1, #list, 2 do
    queue[#queue + 1] = list[i]
  end
  redis.call('DEL', KEYS[3], KEYS[4], KEYS[5])
  for i, who in ipairs(queue) do
    local till = score[who] and score[who] - less or last + (heard[who] and share or life)
    local over = till <= now and (front or i > placed)
    if heard[who] then
      over = heard[who] + life < now
      less = less + (over and not done[who] and share or 0)
    end
    if not over and not done[who] then
      redis.call('RPUSH', KEYS[3], who)
      redis.call('ZADD', KEYS[4], till, who)
      if heard[who] then
        redis.call('ZADD', KEYS[5], heard[who], who)
      end
      last, front = till, false
    end
    done[who] = true
  end
  set_end()
end

-- Move the deadlines of all owners behind `who` (nil: of all), and that of `who` if `itself` is
-- set. In a long queue at most `most` deadlines move. Owners further behind keep a deadline
-- that is too late until theirs is moved. Then each deadline is at most one share after the one
-- before it.
local function move(who, ms, itself)
  local from, to, long = 0, -1, redis.call('LLEN', KEYS[3]) > most
  if long then
    from = math.max(0, (who and redis.call('ZRANK', KEYS[4], who) or 0) - most)
    to = from + 3 * most
  end
  local list, behind, before, moved = redis.call('LRANGE', KEYS[3], from, to), not who, nil, {}
  local done = {}
  for i = 1, #list do
    local other = list[i]
    local till = (behind or itself and other == who) and not done[other] and
      redis.call('ZSCORE', KEYS[4], other)
    if till then
      till = till + ms
      if long and ms < 0 and before then
        till = math.min(till, before + share)
      end
      moved[#moved + 1] = string.format('%.17g', till)
      moved[#moved + 1] = other
      before, done[other] = till, true
    elseif other == who and i > 1 then
      before = tonumber(redis.call('ZSCORE', KEYS[4], list[i - 1]))
    end
    behind = behind or other == who
    if #moved == 2 * most then
      break
    end
  end
  if #moved > 0 then
    redis.call('ZADD', KEYS[4], unpack(moved))
  end
end

-- In a long queue only the front is looked at. One call removes at most `most` owners that are
-- gone from the front. If more are left, the refusal has almost no time left, and the caller
-- soon asks again. Owners further behind that are gone are removed when they reach the front.
-- If the first owner has no deadline then, the queue is damaged.
local function clear_front()
  local less = 0
  for _ = 1, most do
    local head = redis.call('LINDEX', KEYS[3], 0)
    local till = head and redis.call('ZSCORE', KEYS[4], head)
    local ours = head and redis.call('ZSCORE', KEYS[5], head)
    if not till or ours and ours + life >= now or not ours and till - less > now then
      break
    end
    redis.call('LREM', KEYS[3], 1, head)
    redis.call('ZREM', KEYS[4], head)
    redis.call('ZREM', KEYS[5], head)
    less = less + (ours and share or 0)
  end
  if less > 0 then
    move(nil, -less)
  end
  local head = redis.call('LINDEX', KEYS[3], 0)
  if head and not redis.call('ZSCORE', KEYS[4], head) then
    mend()
  else
    set_end()
  end
end

-- The first owner. False: the queue is empty. Nil and a text: other data is in the queue's
-- place.
local function first()
  local places, times = redis.pcall('LLEN', KEYS[3]), redis.pcall('ZCARD', KEYS[4])
  local silent = redis.pcall('ZRANGE', KEYS[5], 0, 0, 'WITHSCORES')
  if type(places) ~= 'number' or type(times) ~= 'number' or silent.err then
    for i = 3, 5 do
      local what = other_data(KEYS[i], i == 3 and 'list' or 'zset')
      if what then
        return nil, what .. ' where the queue of a fair lock would be, in ' .. KEYS[i]
      end
    end
    redis.call('LLEN', KEYS[3])
    redis.call('ZCARD', KEYS[4])
    redis.call('ZRANGE', KEYS[5], 0, 0)
  elseif silent[1] and redis.call('PTTL', KEYS[5]) == -1 and
    not redis.call('ZSCORE', KEYS[4], silent[1]) then -- our own are in both
    return nil, 'a sorted set without an end in ' .. KEYS[5]
  end
  lost = places > 0 and not silent[1] and redis.call('PTTL', KEYS[3]) >= 0
  local head = places > 0 and redis.call('LINDEX', KEYS[3], 0)
  local till = head and redis.call('ZSCORE', KEYS[4], head)
  local ours = head and redis.call('ZSCORE', KEYS[5], head)
  if places ~= times or (silent[2] and silent[2] + life < now) or
    (head and not (till and (ours or tonumber(till) > now))) then
    if places > most and places == times and till then
      clear_front()
    else
      mend()
    end
    head = redis.call('LINDEX', KEYS[3], 0)
  end
  return head
end

-- For how many ms more the first owner is waited for.
local function left_of(head)
  local ours = redis.call('ZSCORE', KEYS[5], head)
  local till = ours and ours + life or redis.call('ZSCORE', KEYS[4], head)
  return math.min(math.max(0, till - now), 1e15) + 1
end

local function wake(head)
  if head then
    redis.pcall('PUBLISH', KEYS[6] .. ':' .. head, '0')
  end
end

-- Remove an owner from the queue.
local function drop(who)
  redis.call('ZREM', KEYS[5], who)
  if redis.call('ZSCORE', KEYS[4], who) then
    move(who, -share, false)
    redis.call('LREM', KEYS[3], 0, who)
    redis.call('ZREM', KEYS[4], who)
  end
  set_end()
end
