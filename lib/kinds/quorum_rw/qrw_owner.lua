local function owner_of(member)
  local head, len = string.match(member, '^([rw]:(%d+):)')
  return head and string.sub(member, #head + 1, #head + len) or member
end
