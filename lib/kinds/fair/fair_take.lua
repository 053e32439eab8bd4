-- Take the lock for the owner ARGV[2], with the token ARGV[3], during ARGV[4] ms at least. The
-- owner must have it already, or the lock must be free and no other owner first in the queue.
-- Another first waiter is woken again, because it may have missed that the lock is free.
-- Returns the same as take().
local function fair_take()
  local head, foreign = first()
  if foreign then
    return 3, -1, foreign
  end
  if head and head ~= ARGV[2] and redis.call('EXISTS', KEYS[1]) == 0 then
    wake(head)
    return 0, left_of(head), head
  end
  local code, left, who = take()
  if code == 1 and head then
    drop(ARGV[2])
  end
  return code, left, who
end
