-- The owner of a writer that keeps ARGV[2] out, and the end of its hold. Nil: there is none.
-- The search ends early at a member of ARGV[2], or at a second owner, because either proves
-- that no other owner writes.
local function writer(set)
  local find, at, size, some, first, reads = string.find, 0, 16, nil, nil, nil
  repeat
    some = live(set, at, size)
    if not first and some[1] then
      first = owner_of(some[1])
      reads = 'r:' .. #first .. ':' .. first .. ':'
    end
    if first == ARGV[2] then
      return nil
    end
    for i = 1, #some, 2 do
      if find(some[i], reads, 1, true) ~= 1 then
        return owner_of(some[i]) == first and first or nil, time_of(some[i + 1])
      end
    end
    at, size = at + size, 256
  until #some < 32
end
