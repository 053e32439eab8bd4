-- As fair_acquire, but a refused owner enters the queue at its end. An owner that is queued
-- already is noted as heard of. Refusals have a fifth element: the number of owners before it
-- (-1: the owner could not be queued).
-- The usual case goes first: the queue is empty.
if redis.pcall('EXISTS', KEYS[3], KEYS[4], KEYS[5]) == 0 then
-- include reentrant/reentrant_free
end
-- include shared/foreign_data
-- include shared/redisson_count
-- include reentrant/reentrant
-- include reentrant/reentrant_lasts
-- include shared/describe_key
-- include reentrant/reentrant_take
-- include fair/fair_queue
-- include fair/fair_take
local function enter(who)
  local till = tonumber(redis.call('ZSCORE', KEYS[4], who))
  local last = redis.call('LINDEX', KEYS[3], -1)
  -- A master without memory refuses the first write, and none behind one that was done.
  local done = till and redis.pcall('ZADD', KEYS[5], now, who) or
    redis.pcall('RPUSH', KEYS[3], who)
  if type(done) ~= 'number' then
    return -1
  elseif not till then
    local from = last and tonumber(redis.call('ZSCORE', KEYS[4], last)) or
      now + redis.call('PTTL', KEYS[1])
    redis.call('ZADD', KEYS[4], math.max(now, from) + share, who)
    redis.call('ZADD', KEYS[5], now, who)
  else
    -- Has waited for so long that Redisson's would take it for gone, if those before it take
    -- their shares back.
    local place = redis.call('ZRANK', KEYS[4], who)
    if till < now + (place + 0.5) * share then
      move(who, now + (place + 1) * share - till, true)
    end
  end
  set_end()
  return redis.call('ZRANK', KEYS[4], who)
end
local code, left, who = fair_take()
if code == 1 then
  return ARGV[1]
end
return {ARGV[1] .. '-', code, left, who, code == 0 and enter(ARGV[2]) or -1}
