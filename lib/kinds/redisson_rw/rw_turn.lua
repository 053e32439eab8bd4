-- KEYS[4] has the clients of waiting readers. The release of a writer begins their turn. During
-- the turn no writer gets in first, and the mark KEYS[3] of a waiting writer does not keep
-- these readers out. A reader that comes during the turn is not added.
local function is_in(member)
  return redis.pcall('SISMEMBER', KEYS[4], member) == 1
end
local function kept_out_ms()
  local marked = redis.call('PTTL', KEYS[3])
  return marked > 0 and not (is_in('turn') and is_in(client)) and marked or 0
end
local function goes_in(ms)
  if not is_in('turn') and type(redis.pcall('SADD', KEYS[4], client)) == 'number' then
    at_least(KEYS[4], ms)
  end
end
local function goes_out()
  local gone = redis.pcall('SREM', KEYS[4], client)
  if gone == 1 and is_in('turn') and redis.pcall('SCARD', KEYS[4]) == 1 then
    redis.pcall('DEL', KEYS[4])
  end
end
