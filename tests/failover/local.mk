# local.mk - failovers by real Sentinels, under users who contend.

EXTRA_PROGRAMS += %D%/contend
%C%_contend_SOURCES = %D%/contend.c
%C%_contend_CPPFLAGS = -I$(top_srcdir)/include
%C%_contend_LDADD = libredlock.la
check_DATA += %D%/contend$(EXEEXT)
# Three of each fault, on three kinds of lists; then the judge sees what it must.
check-failover: %D%/contend
	python3 -B $(srcdir)/%D%/suite.py --contend %D%/contend $(FAILOVER_OPTIONS)
	python3 -B $(srcdir)/%D%/suite.py --contend %D%/contend --play name
.PHONY: check-failover
dist_check_SCRIPTS += %D%/play_test.sh
EXTRA_DIST += %D%/follow.py %D%/hosts.py %D%/rounds.py %D%/service.py %D%/suite.py %D%/users.py \
	%D%/watch.py %D%/wire.py
