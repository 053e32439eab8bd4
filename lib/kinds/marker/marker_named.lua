-- R22: Does this server still have the keys that it had, in the term in which Sentinels name it? As
-- marker_join.lua, but the fifth word of the marker is the term: `@7`. ARGV[5] is the term of who
-- looks. ARGV[4] is `vote`; `look`, by who wants no vote yet; or `forgot`, by who knows that the
-- Sentinels have forgotten: then there is a quarantine whatever marker stands.
-- Terms are compared before all else, as digits: they may be greater than a number here holds. The
-- marker of a higher term is `later`: nothing is changed, and it is in the reply. More of `why`:
-- failover: of a lower term; termless: of none; forgotten.
-- include marker/marker_read
local its_run, its_replication, its_db, why, more =
  string.match(#text < 160 and text or '', '^(%w+) (%w*) (%d+) (%l+)([ %w%p]*)$')
local its_term = string.match(more or '', '^ @(%d+)')
if its_term and (#its_term > 19 or string.find(its_term, '^0.')) then
  its_term = nil
end
local function less(a, b)
  if #a ~= #b then
    return #a < #b
  end
  local high, low = tonumber(string.sub(a, 1, -16)) or 0, tonumber(string.sub(b, 1, -16)) or 0
  return high < low or high == low and tonumber(string.sub(a, -15)) < tonumber(string.sub(b, -15))
end
local found
if not marker then
  found = 'missing'
elseif not its_run then
  found = 'foreign'
elseif ARGV[4] == 'forgot' then
  found = 'forgotten'
elseif not its_term then
  found = 'termless'
elseif less(its_term, ARGV[5]) then
  found = 'failover'
elseif less(ARGV[5], its_term) then
  return {ARGV[1], run, 'later', 0, text}
elseif its_db ~= ARGV[2] then
  found = 'moved'
elseif its_run ~= run then
  found = 'restarted'
elseif its_replication ~= replication and
  string.find(redis.call('INFO', 'replication'), '\nsecond_repl_offset:%d') then
  found = 'resynced'
end
more = found and '' or string.sub(more, #its_term + 3)
why = found or why
local own = run .. ' ' .. replication .. ' ' .. ARGV[2] .. ' ' .. why .. ' @' .. ARGV[5]
why = string.sub(why, 1, 15)
-- include marker/marker_set
