-- The owner of a writer who keeps ARGV[2] out, and its end; nil: there is none. Whoever meets
-- itself in the set, or two owners, knows that without looking further.
local function writer(set)
  local first, holder, ends
  for at = 0, 1000000, 16 do
    local some = redis.call('ZRANGE', set, at, at + 15, 'WITHSCORES')
    for i = 1, #some, 2 do
      local owner = owner_of(some[i])
      first = first or owner
      if owner == ARGV[2] or owner ~= first then
        return nil
      end
      if string.sub(some[i], 1, 1) == 'w' then
        holder, ends = owner, tonumber(some[i + 1])
      end
    end
    if #some < 32 then
      break
    end
  end
  return holder, ends
end
