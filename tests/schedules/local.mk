# local.mk - schedules that run once.

# All of it takes four minutes: some 1,300 periods of three servers.
check-schedules: bin/redlock
	python3 -B $(srcdir)/%D%/suite.py --redlock bin/redlock $(SCHEDULES_OPTIONS)
.PHONY: check-schedules
dist_check_SCRIPTS += %D%/files_test.sh %D%/play_test.sh
EXTRA_DIST += %D%/clockwork.py %D%/masters.py %D%/period.py %D%/plays.py %D%/server.py \
	%D%/suite.py %D%/times.py
