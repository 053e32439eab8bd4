-- Take the lock KEYS[1] to write, for the owner ARGV[2] with the token ARGV[3], during ARGV[4]
-- ms, unless another owner has it. An owner that writes may take it once more. An owner that
-- only reads is refused, because it would wait for itself.
-- Success removes a waiting writer's mark KEYS[2]. If readers keep the waiter ARGV[5] out, its
-- client leaves that mark. During the readers' turn (KEYS[3]) no writer gets in.
-- Returns:
--   nonce: taken
--   {nonce, 0, remaining ms, holder}: another keeps it out
--   {nonce, 2, remaining ms, holder}: this owner reads
--   {nonce, 3, remaining ms (-1: for ever), text}: other data is under that name
-- include quorum_rw/qrw
-- include quorum_rw/qwrite_free
-- include shared/foreign_data
-- include quorum_rw/qrw_owner
-- include quorum_rw/qrw_tidy
-- include quorum_rw/qrw_put
-- include quorum_rw/qrw_live
-- include quorum_rw/qwrite_take
-- include quorum_rw/qwrite_mark
local code, left, holder = take_or_mark()
if code == 1 then
  return ARGV[1]
end
return {ARGV[1] .. '-', code, left, holder}
