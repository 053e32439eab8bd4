-- A waiter of this library. All else in a queue's place is another program's, and stays as it is:
-- nobody is called for it, nor queued beside it.
local function is_waiter(name)
  return string.find(name, '^%x+%-%x+%-%x+%-%x+%-%x+:%d+$')
end
local function is_free_or_ours(queue)
  local first = redis.pcall('ZRANGE', queue, 0, 0)[1]
  return not first or is_waiter(first)
end
