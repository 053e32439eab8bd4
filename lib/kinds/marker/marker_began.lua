-- R9: What stands in the quarantine's place KEYS[2]: `left`, its remaining ms, and `begun`, the time
-- of its beginning. Each quarantine that a script has set ends after it began, and at most the
-- longest window after that (LEFT_MAX_MS in core/marker.c). All else is `strange`: another program's,
-- or an operator's.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local began, left = text_of(KEYS[2]), redis.call('PTTL', KEYS[2])
local begun = left >= 0 and type(began) == 'string' and #began < 17 and
  tonumber(string.match(began, '^%d+$'))
local lasts = begun and now + left - begun or -1
local strange = began and (lasts < 0 or lasts > 2419200000)
