-- Make the write hold of the owner ARGV[2] with the token ARGV[3] on the lock KEYS[1] last at
-- least ARGV[4] ms more. It is never shortened. An expired hold is not extended.
-- Returns the nonce, or a refusal (not_ours.lua) if it is gone.
-- include quorum_rw/qrw
local member = 'w:' .. me
-- include quorum_rw/qrw_extend
