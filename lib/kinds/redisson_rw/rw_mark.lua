-- If readers keep the waiter ARGV[5] out, add its client to the mark KEYS[3] for ARGV[6] ms (0:
-- it does not wait). Remove the client again when it has the lock.
local function take_or_mark()
  local code, left, who, readers = take()
  local client = string.sub(ARGV[5], 1, 36)
  if code == 1 then
    redis.pcall('SREM', KEYS[3], client)
  elseif readers and ARGV[6] ~= '0' then
    local added = redis.pcall('SADD', KEYS[3], client)
    if type(added) == 'number' then
      at_least(KEYS[3], ARGV[6])
    end
  end
  return code, left, who
end
