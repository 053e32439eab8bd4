-- Take the lock KEYS[1] for the owner ARGV[2], as Redisson does, unless another owner has it.
-- The owner's count is the number of tokens in KEYS[2], plus the count that a peer with the
-- same owner name has added. The token ARGV[3] counts once, even if the request is repeated.
-- Both keys live for ARGV[4] ms at least.
-- Returns 1, or a refusal: 0 or 3, remaining ms, and the owner or the data found there.
local function take()
  local count = count_of_owner()
  if not count and redis.call('EXISTS', KEYS[1]) == 1 then
    local what, owner = what_stands(KEYS[1])
    return owner and 0 or 3, redis.call('PTTL', KEYS[1]), owner or what
  elseif count and (redis.call('HLEN', KEYS[1]) > 1 or redis.call('PTTL', KEYS[1]) < 0) then
    return 3, redis.call('PTTL', KEYS[1]), 'a hash that is no lock'
  end
  local known = among_tokens('SISMEMBER')
  if known == nil then
    local what = other_data(KEYS[2], 'set') .. ' under its name and :redlock:holds'
    return 3, redis.call('PTTL', KEYS[2]), what
  end
  -- Tokens without a lock, or more than its owner counts: somebody deleted it meanwhile. A set
  -- without an end is another program's.
  local tokens = redis.call('SCARD', KEYS[2])
  local more = tokens > (count or 0)
  if tokens > 0 and (more or not known) and redis.call('PTTL', KEYS[2]) == -1 then
    return 3, -1, 'a set without an end under its name and :redlock:holds'
  end
  if more then
    redis.call('DEL', KEYS[2])
    known = false
  end
  if not known then
    redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
    redis.call('SADD', KEYS[2], ARGV[3])
  end
  at_least(KEYS[1], ARGV[4])
  at_least(KEYS[2], ARGV[4])
  return 1
end
