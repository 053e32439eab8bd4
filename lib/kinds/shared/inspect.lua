-- Look at the lock KEYS[1] of any kind, and change nothing. The keys beside it are not in KEYS,
-- so that a right to NAME is enough to look at a plain lock.
-- Returns {nonce, 1 if it is free or else 0, remaining ms (-1: for ever), holder, details}.
-- The details begin with a line "KIND WAITING MARK HOLDERS". WAITING counts the queued and the
-- listening waiters. MARK is for how many ms a waiting writer keeps readers out.
-- A line "MODE COUNT MS LENGTH OWNER" follows for each of up to 16 holders, the owner ARGV[2]
-- first. For foreign data, the key's type follows instead.
-- include shared/found
local all, by, lines = {}, {}, {}
local function add(mode, count, ms, owner)
  count = math.max(0, math.min(4294967295, tonumber(count) or 0))
  local key = (owner == ARGV[2] and '0' or '1') .. owner .. mode
  local one = by[key]
  if one then
    one.count, one.ms = one.count + count, math.max(one.ms, ms)
    return
  end
  one = {mode = mode, count = count, ms = ms, owner = owner, key = key}
  by[key], all[#all + 1] = one, one
end
local function less(a, b)
  return a.key < b.key
end
local function size(command, key)
  local told = redis.pcall(command, key)
  return type(told) == 'number' and told or 0
end
local function lease(one)
  local most = 0
  for i = 1, math.min(one.count, 16) do
    local ms = size('PTTL', derived('') .. ':' .. one.owner .. ':rwlock_timeout:' .. i)
    most = math.max(most, ms)
    one.count = one.count - (ms == -2 and 1 or 0)
  end
  return most
end
local function ears(channel)
  return redis.pcall('PUBSUB', 'NUMSUB', derived(channel))[2] or 0
end
local kind, there = found(KEYS[1])
local left, fair = redis.call('PTTL', KEYS[1]), size('LLEN', derived('redisson_lock_queue:'))
if kind == 'plain' then
  add('x', 1, left, redis.call('GET', KEYS[1]))
elseif kind == 'read-write' and there == 'zset' then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + time[2] / 1000
  local set = redis.call('ZREVRANGE', KEYS[1], 0, 9999, 'WITHSCORES')
  for i = 1, #set, 2 do
    local mode, len, rest = string.match(set[i], '^([rw]):(%d+):(.*)$')
    if mode and tonumber(set[i + 1]) > now then
      add(mode, 1, set[i + 1] - now, string.sub(rest, 1, len))
    end
  end
elseif there == 'hash' and kind ~= 'data' and redis.call('HLEN', KEYS[1]) <= 10000 then
  local hash = redis.call('HGETALL', KEYS[1])
  for i = 1, #hash, 2 do
    local writer = string.match(hash[i], '^(.*):write$')
    if kind == 'reentrant' then
      add('x', hash[i + 1], left, hash[i])
    elseif hash[i] ~= 'mode' then
      add(writer and 'w' or 'r', hash[i + 1], writer and left or -3, writer or hash[i])
    end
  end
end
local holders, first = #all, ''
if #all == 0 and there == 'hash' then
  holders = redis.call('HLEN', KEYS[1])
end
table.sort(all, less)
for i = 1, math.min(#all, 16) do
  local one = all[i]
  local owner = string.sub(one.owner, 1, 128)
  first = i == 1 and owner or first
  local ms = one.ms == -3 and lease(one) or one.ms
  lines[i] = string.format('%s %.0f %.0f %d ', one.mode, one.count, ms, #owner) .. owner .. '\n'
end
if kind == 'data' then
  holders, first, lines[1] = 0, 'a ' .. there .. ' that is no lock', there .. '\n'
elseif kind == 'reentrant' and fair > 0 then
  kind = 'fair'
end
local waiting = fair + size('ZCARD', KEYS[1] .. ':redlock:queue') +
  ears('redisson_lock__channel:') + ears('redisson_rwlock:')
local mark = math.max(0, size('PTTL', KEYS[1] .. ':redlock:writer'))
lines[0] = string.format('%s %.0f %.0f %.0f\n', kind, waiting, mark, holders)
return {ARGV[1], kind == 'free' and 1 or 0, left, first, table.concat(lines, '', 0)}
