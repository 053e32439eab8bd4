-- Take the lock KEYS[1] to read, for the owner ARGV[2] and its token ARGV[3], for ARGV[4] ms:
-- where no writer but this owner has it, nor has one who waits left the mark KEYS[2]; that does
-- not keep out who reads or writes already.
-- Returns {nonce, 1}, or {nonce, 0, remaining ms, holder}, or where something else stands under
-- that name {nonce, 3, remaining ms (-1: for ever), what}.
-- include shared/other_data
-- include quorum_rw/qrw
-- include quorum_rw/qread
-- include quorum_rw/qread_take
local code, left, holder = take()
if code == 1 then
  return {ARGV[1], 1}
end
return {ARGV[1], code, left, holder}
