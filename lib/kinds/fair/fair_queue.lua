-- The queue of a fair lock, as Redisson keeps it: the owners in order, KEYS[3], and until when
-- each of them is waited for, KEYS[4]: in ms of the server's clock, counted from the one
-- before it, so that whoever goes takes its share back from all behind it. KEYS[5] is not
-- Redisson's: when each of ours was last heard of. Of ours is gone who is silent for the last
-- argument's ms; of Redisson's, as there, the first one when its time is over.
local share, life, clock = 300000, tonumber(ARGV[#ARGV]), redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

-- While one of ours is in it, the queue ends with it at last, and not before any of Redisson's;
-- all keys at one moment: an owner without a time would be the first for ever. A queue that has an
-- end and nothing of ours has lost that (evicted): whose the rest is nobody knows, and it ends.
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

-- Write the queue anew, without who is gone, and with one place and one time for all others:
-- an owner of Redisson's whose time is lost is a ghost mostly, and is not waited for so long.
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

-- Who is the first; false: nobody. Where other data stands in the queue's place, nil and what.
local function first()
  local places, times = redis.pcall('LLEN', KEYS[3]), redis.pcall('ZCARD', KEYS[4])
  local silent = redis.pcall('ZRANGE', KEYS[5], 0, 0, 'WITHSCORES')
  if type(places) ~= 'number' or type(times) ~= 'number' or silent.err then
    local what = other_data(KEYS[3], 'list') or other_data(KEYS[4], 'zset') or
      other_data(KEYS[5], 'zset')
    if what then
      return nil, what .. ' where the queue of a fair lock would be'
    end
    for i = 3, 5 do
      redis.call(i == 3 and 'LLEN' or 'ZCARD', KEYS[i])
    end
  end
  lost = places > 0 and not silent[1] and redis.call('PTTL', KEYS[3]) >= 0
  local head = places > 0 and redis.call('LINDEX', KEYS[3], 0)
  local till = head and redis.call('ZSCORE', KEYS[4], head)
  local ours = head and redis.call('ZSCORE', KEYS[5], head)
  if places ~= times or (silent[2] and silent[2] + life < now) or
    (head and not (till and (ours or tonumber(till) > now))) then
    mend()
    head = redis.call('LINDEX', KEYS[3], 0)
  end
  return head
end

-- For how long the first one is waited for.
local function left_of(head)
  local ours = redis.call('ZSCORE', KEYS[5], head)
  local till = ours and ours + life or redis.call('ZSCORE', KEYS[4], head)
  return math.max(0, till - now) + 1
end

local function wake(head)
  if head then
    redis.pcall('PUBLISH', KEYS[6] .. ':' .. head, '0')
  end
end

-- Move the times of all behind `who`, and its own where it is asked for.
local function move(who, ms, itself)
  local till, behind, moved = read(KEYS[4]), false, {}
  for _, other in ipairs(redis.call('LRANGE', KEYS[3], 0, -1)) do
    if till[other] and (behind or (itself and other == who)) then
      moved[#moved + 1] = string.format('%.17g', till[other] + ms)
      moved[#moved + 1] = other
      till[other] = nil
    end
    behind = behind or other == who
  end
  for i = 1, #moved, 1000 do
    redis.call('ZADD', KEYS[4], unpack(moved, i, math.min(i + 999, #moved)))
  end
end

-- Out of the queue.
local function drop(who)
  redis.call('ZREM', KEYS[5], who)
  if redis.call('ZSCORE', KEYS[4], who) then
    move(who, -share, false)
    redis.call('LREM', KEYS[3], 0, who)
    redis.call('ZREM', KEYS[4], who)
  end
  set_end()
end
