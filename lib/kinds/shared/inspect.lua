-- Look at the lock KEYS[1] of any kind, and change nothing. The keys beside it are not in KEYS,
-- so that a right to NAME is enough to look at a plain lock.
-- Returns {nonce, 1 if it is free or else 0, remaining ms (-1: for ever), holder, details}.
-- The details begin with a line "KIND WAITING MARK HOLDERS". WAITING counts the queued and the
-- listening waiters. MARK is for how many ms a waiting writer keeps readers out.
-- A line "MODE COUNT MS LENGTH OWNER" follows for each of up to 16 holders, the owner ARGV[2]
-- first. For foreign data, the key's type follows instead.
-- Of more than 256 holds or readers, HOLDERS counts all, expired holds among them. Then only
-- the owner is named, and of a lock of several masters the 256 holds that end last; of those,
-- the owner is looked for in 5000.
-- include shared/key_kind
-- include shared/own_key
local call, all, by, text, most, many = redis.call, {}, {}, {}, 256, 0
local name, own = KEYS[1], ARGV[2]
local function add(mode, count, ms, owner)
  count = math.max(0, math.min(4294967295, tonumber(count) or 0))
  local key = (owner == own and '0' or '1') .. owner .. tostring(mode)
  local one = by[key] or {mode = mode, count = 0, ms = ms, owner = owner, key = key}
  if count > 0 then
    all[#all + 1], by[key] = not by[key] and one or nil, one
    one.count, one.ms = one.count + count, math.max(one.ms, ms)
  end
end
local function size(command, key)
  return tonumber(redis.pcall(command, key)) or 0
end
local kind, there = found(name)
local left, fair = call('PTTL', name), size('LLEN', derived('redisson_lock_queue:'))
if kind == 'plain' then
  add('x', 1, left, call('GET', name))
elseif there == 'zset' and kind ~= 'data' then
  local time = call('TIME')
  local now = time[1] * 1000 + time[2] / 1000
  local mine = ':' .. #own .. ':' .. own .. ':'
  many = size('ZCARD', name)
  for at = 0, math.min(many, 4999), most do
    for _, one in ipairs(call('ZREVRANGE', name, at, at + 255)) do
      if at == 0 or one:find(mine, 2, true) == 2 then
        local mode, len, rest = one:match('^([rw]):(%d+):(.*)$')
        local ms = math.min(call('ZSCORE', name, one), 1e15) - now
        add(mode, mode and ms > 0 and 1, ms, (rest or ''):sub(1, len))
      end
    end
  end
elseif there == 'hash' and kind ~= 'data' then
  many = size('HLEN', name) - 1
  local hash = many > most and {own, call('HGET', name, own)} or call('HGETALL', name)
  for i = 1, #hash, 2 do
    local writer = hash[i]:match('^(.*):write$')
    if kind == 'reentrant' then
      add('x', hash[i + 1], left, hash[i])
    elseif hash[i] ~= 'mode' then
      add(writer and 'w' or 'r', hash[i + 1], writer and left or -3, writer or hash[i])
    end
  end
end
local first
many = many > most and many or #all
table.sort(all, function(a, b) return a.key < b.key end)
for i = 1, math.min(#all, 16) do
  local one = all[i]
  local owner, ms = one.owner:sub(1, 128), one.ms == -3 and 0 or one.ms
  first = i == 1 and owner or first
  for k = 1, one.ms == -3 and math.min(one.count, 16) or 0 do
    local lasts = size('PTTL', derived('') .. ':' .. one.owner .. ':rwlock_timeout:' .. k)
    ms, one.count = math.max(ms, lasts), one.count - (lasts == -2 and 1 or 0)
  end
  text[i] = string.format('%s %.0f %.0f %d ', one.mode, one.count, ms, #owner) .. owner .. '\n'
end
if kind == 'data' then
  many, first, text[1] = 0, 'a ' .. there .. ' that is no lock', there .. '\n'
elseif kind == 'reentrant' and fair > 0 then
  kind = 'fair'
end
local ears = redis.pcall('PUBSUB', 'NUMSUB', derived('redisson_lock__channel:'),
  derived('redisson_rwlock:'))
text[0] = string.format('%s %.0f %.0f %.0f\n', kind,
  fair + size('ZCARD', own_key(name, 'queue')) + (ears[2] or 0) + (ears[4] or 0),
  math.max(0, size('PTTL', own_key(name, 'writer'))), many)
return {ARGV[1] .. '-', kind == 'free' and 1 or 0, left, first or '', table.concat(text, '', 0)}
