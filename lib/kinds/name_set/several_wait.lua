-- The locks are the first half of KEYS. Take all of them for the token ARGV[2] during ARGV[3]
-- ms, if each is free or reserved for the waiter ARGV[4].
-- Otherwise put that waiter, which has waited for ARGV[5] us, into the queues of the locks that
-- others have. The queues are the second half of KEYS and live for ARGV[6] ms more.
-- A free lock is reserved for the next waiter in its queue during ARGV[7] ms. A waiter for that
-- lock alone must not wait for the rest.
-- A lock reserved for this waiter stays reserved for a quarter of the time it has waited, at
-- most half a second. Without that it might never find all locks free at once. But if another
-- waiter has waited for longer, the lock is reserved for that one. Otherwise two waiters could
-- block each other for ever, each with a lock that the other needs.
-- Waiters that came at about the same time may each seem the older one to itself, because clocks
-- run differently. So in every fourth second of its wait a waiter hands on what is reserved.
-- Returns the nonce, or an answer about the first lock that others have:
--   {nonce, 0, remaining ms (-1: for ever), holder, number of waiters before this one (-1: not
--     queued everywhere)}: the remaining ms are those of a reserved lock, if less
--   {nonce, 3, remaining ms, text, -1}: it is no plain lock
-- include shared/foreign_data
-- include name_set/several_blocked
-- include shared/waiters
-- include shared/wake_next
local count, kept = #KEYS / 2, 'redlock:next:' .. ARGV[4]
local holders, first = {}, nil
for i = 1, count do
  holders[i] = redis.pcall('GET', KEYS[i])
  if type(holders[i]) == 'table' then
    local answer = blocked(KEYS[i], holders[i])
    answer[5] = -1
    return answer
  end
  if holders[i] and holders[i] ~= kept then
    first = first or i
  end
end
if not first then
  for i = 1, count do
    redis.call('SET', KEYS[i], ARGV[2], 'PX', ARGV[3])
    redis.pcall('ZREM', KEYS[count + i], ARGV[4])
  end
  return ARGV[1]
end
local answer = blocked(KEYS[first], holders[first])
local now, place = redis.pcall('TIME'), -1
local since = not now.err and string.format('%.0f', now[1] * 1000000 + now[2] - ARGV[5])
local stays = math.min(math.floor(ARGV[5] / 4000), 500)
local yields = ARGV[5] % 4000000 >= 3000000
local function is_wanted(queue)
  local head = redis.pcall('ZRANGE', queue, 0, 0, 'WITHSCORES')
  return since and head[2] and is_waiter(head[1]) and head[1] ~= ARGV[4] and
    tonumber(head[2]) < tonumber(since)
end
for i = 1, count do
  local lock, queue = KEYS[i], KEYS[count + i]
  if holders[i] == kept and not yields and not is_wanted(queue) then
    if redis.call('PTTL', lock) < stays then
      redis.call('PEXPIRE', lock, stays)
    end
    local left = redis.call('PTTL', lock)
    if answer[3] < 0 or left < answer[3] then
      answer[3] = left
    end
  elseif holders[i] and holders[i] ~= kept then
    if since and is_free_or_ours(queue) and
      type(redis.pcall('ZADD', queue, since, ARGV[4])) == 'number' then
      redis.pcall('PEXPIRE', queue, ARGV[6])
      local rank = redis.pcall('ZRANK', queue, ARGV[4])
      if i == first then
        place = type(rank) == 'number' and rank or -1
      end
    else
      since = nil
    end
  else
    redis.pcall('ZREM', queue, ARGV[4])
    hand_on(lock, queue, ARGV[7])
  end
end
answer[5] = since and place or -1
return answer
