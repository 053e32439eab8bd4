-- If readers keep the waiter ARGV[5] out, its client leaves the mark KEYS[2] for ARGV[6] ms (0:
-- it does not wait). The mark keeps new readers out.
local client = string.sub(ARGV[5], 1, 36)
local function take_or_mark()
  local code, left, holder, readers = take()
  if readers and ARGV[6] ~= '0' and type(redis.pcall('GET', KEYS[2])) ~= 'table' then
    redis.pcall('SET', KEYS[2], client, 'PX', ARGV[6])
  end
  return code, left, holder
end
