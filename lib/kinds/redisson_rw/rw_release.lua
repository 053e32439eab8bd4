-- Release the hold with the token ARGV[3] in `field`. The lock then lasts as long as the
-- longest of the leases left.

-- If there are more leases than a script should look at, the lock's own TTL stays.
local function longest()
  local most, looks = 0, call('HLEN', KEYS[1])
  local all = looks <= 1000 and call('HGETALL', KEYS[1]) or {}
  for at = 1, #all, 2 do
    local count = all[at] ~= 'mode' and (as_count(all[at + 1]) or 1000) or 0
    looks = looks + count
    for i = 1, looks <= 1000 and count or 0 do
      most = math.max(most, call('PTTL', lease(all[at], i)))
    end
  end
  return looks <= 1000 and most or call('PTTL', KEYS[1])
end
local function take_out(field, i)
  local count = count_of(field)
  local last = count
  call('DEL', lease(field, i))
  if field == ARGV[2] then
    close_gaps(field)
    return
  end
  while last > i and call('EXISTS', lease(field, last)) == 0 do
    last = last - 1
  end
  if last > i then
    call('RENAME', lease(field, last), lease(field, i))
  end
  call('HINCRBY', KEYS[1], field, -1)
  if count == 1 then
    call('HDEL', KEYS[1], field)
  end
end
-- Returns: 1 or 0, whether the hold was there; whether waiters can get in now; the mode before.
local function give_up(field)
  local i = find(field, ARGV[3])
  if not i then
    -- What is left of a lock that somebody deleted.
    local count = count_of(field)
    for k = count + 1, count + 16 do
      if call('GET', lease(field, k)) == ARGV[3] then
        call('DEL', lease(field, k))
      end
    end
    return 0
  end
  local was = get('mode')
  take_out(field, i)
  local writes = was == 'write' and count_of(ARGV[2] .. ':write') or 0
  if writes > 0 then
    return 1
  end
  local left = longest()
  if left > 0 then
    call('PEXPIRE', KEYS[1], left)
  else
    call('DEL', KEYS[1])
  end
  local reads_on = was == 'write' and left > 0
  if reads_on then
    call('HSET', KEYS[1], 'mode', 'read')
  end
  return 1, reads_on or left <= 0, was
end
