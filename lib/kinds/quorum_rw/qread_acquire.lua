-- Take the lock KEYS[1] to read, for the owner ARGV[2] with the token ARGV[3], for ARGV[4] ms.
-- Another owner's writer refuses it. So does the mark KEYS[2] of a waiting writer, unless the
-- owner reads or writes already.
-- Returns:
--   nonce: taken
--   {nonce, 0, remaining ms, holder}: a writer keeps it out
--   {nonce, 3, remaining ms (-1: for ever), text}: other data is under that name
-- include quorum_rw/qrw
-- include quorum_rw/qread_free
-- include shared/foreign_data
-- include quorum_rw/qrw_owner
-- include quorum_rw/qrw_tidy
-- include quorum_rw/qrw_put
-- include quorum_rw/qrw_live
-- include quorum_rw/qread
-- include quorum_rw/qread_take
local code, left, holder = take()
if code == 1 then
  return ARGV[1]
end
return {ARGV[1] .. '-', code, left, holder}
