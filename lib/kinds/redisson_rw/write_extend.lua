-- Make the write hold of the owner ARGV[2] with the token ARGV[3] on the lock KEYS[1] last at
-- least ARGV[4] ms more. It is never shortened. KEYS[2] begins the names of its leases.
-- Returns the nonce, or a refusal (not_ours.lua) if it is gone.
local field, other = ARGV[2] .. ':write', ARGV[2]
-- include redisson_rw/rw_extend_only
-- include redisson_rw/rw_holds
-- include redisson_rw/rw_extend
-- include shared/own_key
-- include shared/not_ours
if extend(field) ~= 1 then
  return not_ours(KEYS[1])
end
return ARGV[1]
