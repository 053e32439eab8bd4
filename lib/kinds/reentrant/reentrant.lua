-- How often the owner ARGV[2] has the lock KEYS[1], by Redisson's count. False: not at all.
local function count_of_owner()
  local has = redis.pcall('HMGET', KEYS[1], ARGV[2], 'mode')
  if has.err and not other_data(KEYS[1], 'hash', has) then
    redis.call('HMGET', KEYS[1], ARGV[2], 'mode')
  end
  return not has.err and not has[2] and counted(has[1]) or false
end

-- Is ARGV[3] among the tokens KEYS[2]? Nil: that key has other data.
local function among_tokens(command)
  local is = redis.pcall(command, KEYS[2], ARGV[3])
  if type(is) == 'number' then
    return is == 1
  elseif not other_data(KEYS[2], 'set', is) then
    if command == 'SREM' then -- each on a line of its own, which tells the name of the right
      redis.call('SREM', KEYS[2], ARGV[3])
    end
    redis.call('SISMEMBER', KEYS[2], ARGV[3])
  end
end
