-- Take all the locks in the first half of KEYS for the token ARGV[2] during ARGV[3] ms, if each
-- is free or kept free for the waiter ARGV[4]. Else enter that waiter, who has waited for ARGV[5]
-- us, into the queues (the second half of KEYS, which live for ARGV[6] ms more) of those that
-- others have. What is free is handed on during ARGV[7] ms: who waits for it alone shall not wait
-- for the rest. What is kept for the waiter stays so for a quarter of the time it has waited, half
-- a second at most, lest it never finds all of them free at once; but it is handed on where somebody
-- has waited for longer, lest two who keep what the other needs wait for each other for ever.
-- Returns {nonce, 1}, or of the first one that others have {nonce, 0, remaining ms (-1: for ever),
-- or how long another is kept if that is less, holder, how many are before (-1: it could not be
-- entered everywhere)}, or {nonce, 3, remaining ms, what it is, -1} where one is no plain lock.
-- include shared/other_data
-- include name_set/several_blocked
-- include shared/hand_on
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
  return {ARGV[1], 1}
end
local answer = blocked(KEYS[first], holders[first])
local now, place = redis.pcall('TIME'), -1
local since = not now.err and string.format('%.0f', now[1] * 1000000 + now[2] - ARGV[5])
local stays = math.min(math.floor(ARGV[5] / 4000), 500)
local function is_wanted(queue)
  local head = redis.pcall('ZRANGE', queue, 0, 0, 'WITHSCORES')
  return since and head[2] and head[1] ~= ARGV[4] and tonumber(head[2]) < tonumber(since)
end
for i = 1, count do
  local lock, queue = KEYS[i], KEYS[count + i]
  if holders[i] == kept and not is_wanted(queue) then
    if redis.call('PTTL', lock) < stays then
      redis.call('PEXPIRE', lock, stays)
    end
    local left = redis.call('PTTL', lock)
    if answer[3] < 0 or left < answer[3] then
      answer[3] = left
    end
  elseif holders[i] and holders[i] ~= kept then
    if since and type(redis.pcall('ZADD', queue, since, ARGV[4])) == 'number' then
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
