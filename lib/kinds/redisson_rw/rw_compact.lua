-- Fill the gaps that expired holds leave among an owner's leases, and return how many holds are
-- left. A lock without holds is deleted.
local function close_gaps(field)
  local before = count_of(field)
  local count, i = before, 1
  while i <= count do
    if call('EXISTS', lease(field, i)) == 1 then
      i = i + 1
    else
      if i < count and call('EXISTS', lease(field, count)) == 1 then
        call('RENAME', lease(field, count), lease(field, i))
      end
      count = count - 1
    end
  end
  if count > 0 and count < before then
    call('HSET', KEYS[1], field, count)
  elseif count < before then
    call('HDEL', KEYS[1], field)
    if call('HLEN', KEYS[1]) == 1 then
      call('DEL', KEYS[1])
    end
  end
  return count
end
