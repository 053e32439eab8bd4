-- A token has one hold, even if the request is repeated. Returns 1, or a refusal: 0 or 3,
-- remaining ms, and the holder or the data found there.
-- kept_out_ms() tells for how many ms a waiting writer keeps new readers out. Nil: no writer
-- does.
local function take(kept_out_ms)
  local mode, what = what_mode()
  if not mode then
    return 3, call('PTTL', KEYS[1]), what
  elseif mode == 'write' and call('HEXISTS', KEYS[1], ARGV[2] .. ':write') == 0 then
    return refuse(mode)
  end
  local i = mode ~= 'free' and find(ARGV[2], ARGV[3])
  if i then
    at_least(lease(ARGV[2], i), ARGV[4])
  else
    i = 1 + (mode == 'free' and 0 or close_gaps(ARGV[2]))
    if i > most_holds then
      return refuse(mode)
    end
    local ms = i == 1 and mode ~= 'write' and kept_out_ms and kept_out_ms() or 0
    if ms > 0 then
      return 0, ms, 'a writer that waits'
    end
    -- The lease comes first: a user without a right to it leaves no lock without an end.
    call('SET', lease(ARGV[2], i), ARGV[3], 'PX', ARGV[4])
    call('HSET', KEYS[1], 'mode', mode == 'write' and mode or 'read', ARGV[2], i)
  end
  at_least(KEYS[1], ARGV[4])
  if mode == 'write' then
    keep_writes()
  end
  return 1
end
