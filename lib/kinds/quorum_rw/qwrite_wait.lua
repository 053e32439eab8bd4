-- As qwrite_acquire, for who listens on the lock's channel. All who do are woken at once.
-- Returns {nonce, 1}, or {nonce, 0, remaining ms, holder, 0}, or {nonce, 2, remaining ms,
-- holder, -1} for a reader, or where something else stands under that name {nonce, 3, remaining
-- ms, what, -1}.
-- include shared/other_data
-- include quorum_rw/qrw
-- include quorum_rw/qwrite_take
-- include quorum_rw/qwrite_mark
local code, left, holder = take_or_mark()
if code == 1 then
  return {ARGV[1], 1}
end
return {ARGV[1], code, left, holder, code == 0 and 0 or -1}
