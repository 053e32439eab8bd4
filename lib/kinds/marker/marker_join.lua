-- R9: Does this server still have the keys that it had? The marker KEYS[1] says whose keys they
-- are. Without one, or with another one, nobody knows what was lost: a new marker is set, and
-- the quarantine KEYS[2] for ARGV[3] ms. Its value is this server's time of its beginning.
-- ARGV[2] is the number of the database.
-- Its first four words are alike in all versions. A later one may write more behind them, of
-- printable ASCII and 159 bytes in all, which stays for as long as the keys do.
-- A standing quarantine lasts for ARGV[3] ms from its beginning, or longer.
-- What is no marker, and no time in the quarantine's place, is another program's, or was set by
-- hand. It stays: nothing is written over it, and there is no vote for as long as it stands.
-- Who wants no vote yet gives ARGV[4], `look`: nothing is written, and the times are those that a
-- client would find who wants one.
-- Returns {nonce, the server's run id ('': not told), why, remaining ms, the marker}. 0: no
-- quarantine stands; -1: one that somebody must delete. `why` is of the last quarantine: missing,
-- foreign, moved, restarted or resynced; init: of none; strange: what stands there is no time, and
-- so was not set for a loss. Or it is replica: nothing was read. Of a longer word of another version
-- there are 15 letters. A marker that is missing or another one, and is not written, gives an empty
-- text.
-- include marker/marker_read
local its_run, its_replication, its_db, why, more =
  string.match(#text < 160 and text or '', '^(%w+) (%w*) (%d+) (%l+)([ %w%p]*)$')
local found
if not marker then
  found = 'missing'
elseif not its_run then
  found = 'foreign'
elseif its_db ~= ARGV[2] then
  found = 'moved'
elseif its_run ~= run then
  found = 'restarted'
elseif its_replication ~= replication and
  string.find(redis.call('INFO', 'replication'), '\nsecond_repl_offset:%d') then
  found = 'resynced'
end
more = found and '' or string.sub(why, 16) .. more
why = found or string.sub(why, 1, 15)
local own = run .. ' ' .. replication .. ' ' .. ARGV[2] .. ' ' .. why
-- include marker/marker_set
