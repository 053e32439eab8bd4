-- A token has one hold, even if the request is repeated. Returns 1, or a refusal: 0, 2 or 3,
-- remaining ms, the holder, and whether readers hold it. With `insists` the writer gets in even
-- during the readers' turn.
local function take(insists)
  local field = ARGV[2] .. ':write'
  local mode, what = what_mode()
  if not mode then
    return 3, call('PTTL', KEYS[1]), what
  elseif mode == 'read' and close_gaps(ARGV[2]) > 0 then
    return 2, call('PTTL', KEYS[1]), ARGV[2]
  end
  mode = mode == 'read' and call('EXISTS', KEYS[1]) == 0 and 'free' or mode
  if mode == 'read' or mode == 'write' and call('HEXISTS', KEYS[1], field) == 0 then
    return refuse(mode)
  elseif mode == 'free' and not insists and redis.pcall('SISMEMBER', KEYS[4], 'turn') == 1 then
    return 0, call('PTTL', KEYS[4]), 'readers whose turn it is', true
  end
  local i = mode == 'write' and find(field, ARGV[3])
  if i then
    at_least(lease(field, i), ARGV[4])
  else
    -- A count without a lease is of a thread of Redisson's that is the same owner.
    local count = mode == 'write' and count_of(field) or 0
    i = 1
    if count == most_holds then
      return refuse(mode)
    end
    while i <= count and call('EXISTS', lease(field, i)) == 1 do
      i = i + 1
    end
    call('DEL', lease(field, count + 1)) -- what is left of a lock that somebody deleted
    call('HSET', KEYS[1], 'mode', 'write', field, count + 1)
    call('SET', lease(field, i), ARGV[3], 'PX', ARGV[4])
  end
  at_least(KEYS[1], ARGV[4])
  keep_writes()
  return 1
end
