-- Make the lock KEYS[1] of the owner ARGV[2] last at least ARGV[4] ms more, if the token ARGV[3]
-- is one of its tokens KEYS[2].
-- Returns {nonce, 1}, or {nonce, 0} where it is gone or another's.
-- include other_data
-- include counted
-- include reentrant
if not count_of_owner() or not among_tokens('SISMEMBER') then
  return {ARGV[1], 0}
end
at_least(KEYS[1], ARGV[4])
at_least(KEYS[2], ARGV[4])
return {ARGV[1], 1}
