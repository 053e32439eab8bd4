-- When a hold ends. A foreign score may be no time, so it is limited.
local function time_of(score)
  return math.min(tonumber(score), 1e15)
end

-- Up to `count` members of the set and their ends, from rank `at` on: those that end last first.
-- Expired members are left out, which end first and may not have been removed yet.
local function live(set, at, count)
  local some = redis.call('ZREVRANGE', set, at, at + count - 1, 'WITHSCORES')
  for i = #some, 2, -2 do
    if tonumber(some[i]) > now then
      break
    end
    some[i - 1], some[i] = nil, nil
  end
  return some
end
