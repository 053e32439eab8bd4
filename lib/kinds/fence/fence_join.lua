-- R9, R11: Does this master still have the fencing counters that it had? With `fencing strict`
-- its certificate KEYS[1] says so: "word id base greatest run-id replication-id".
--   word      certified; else why it is not: missing, foreign, restarted or resynced
--   id        what clients show with a request; of a loss, the loss's own
--   base      its next tokens are above this one
--   greatest  no token that it named or took is above this one
-- The server names itself, as for markers. Where the certificate is another server's, or gone,
-- tokens may be lost, and that gets an id. What is no certificate is another program's: it stays,
-- and that loss has no id.
-- ARGV[1] is a nonce, ARGV[2] what is wanted, ARGV[3] the id of a loss, ARGV[4] a number:
--   look     nothing is written: a loss that has no id yet gets none
--   lose     a loss that has none gets one
--   read     for the loss of another master. Rounds that were begun before this are refused from
--            now on: their requests show an older id.
--   certify  after this master's own loss: the greatest number that a majority of the others
--            read for it. A loss that came later stays.
-- Returns {nonce, word, id, greatest}. The word may also be replica or nameless: nothing was
-- read.
-- include fence/fence_text
-- include shared/text_of
local function told(section, field)
  return string.match(redis.call('INFO', section), '\n' .. field .. ':(%w+)') or ''
end
local run, replication = told('server', 'run_id'), told('replication', 'master_replid')
if told('replication', 'role') ~= 'master' then
  return {ARGV[1], 'replica', '', 0}
elseif run == '' then
  return {ARGV[1], 'nameless', '', 0}
end
local text = text_of(KEYS[1])
local word, id, base, greatest, its = certificate(text)
local its_run, its_replication = string.match(its or '', '^(%w+) (%w*)$')
local lost
if not word then
  lost = text and 'foreign' or 'missing'
elseif its_run ~= run then
  lost = 'restarted'
elseif its_replication ~= replication and
  string.find(redis.call('INFO', 'replication'), '\nsecond_repl_offset:%d') then
  lost = 'resynced'
end
if lost == 'foreign' or lost and ARGV[2] == 'look' then
  return {ARGV[1], lost, '', 0}
elseif lost then
  word, id, base, greatest = lost, ARGV[1], '0', '0'
elseif ARGV[2] == 'read' and word == 'certified' and string.sub(id, 1, 16) ~= ARGV[3] then
  id = ARGV[3] .. ARGV[1]
elseif ARGV[2] == 'certify' and word ~= 'certified' and id == ARGV[3] then
  word, id, base, greatest = 'certified', id .. ARGV[1], ARGV[4], ARGV[4]
end
local own = table.concat({word, id, base, greatest, run, replication}, ' ')
if own ~= text and ARGV[2] ~= 'look' then
  redis.call('SET', KEYS[1], own)
end
return {ARGV[1], word, id, tonumber(greatest)}
