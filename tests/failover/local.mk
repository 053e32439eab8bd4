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
# The same faults for Redisson's users and for ours, by turns. It downloads Redisson.
check-failover-peers: %D%/contend
	$(srcdir)/tests/interop/build_peers.sh interop-peers redisson-4
	python3 -B $(srcdir)/%D%/suite.py --contend %D%/contend --redisson interop-peers/redisson-4 \
	  --play one --play redisson --play redisson-min --max-ttl 5 \
	  --round kill --round pause --round partition --round order --round machine \
	  --round back --round long --round behind --round restart $(FAILOVER_OPTIONS)
.PHONY: check-failover check-failover-peers
dist_check_SCRIPTS += %D%/play_test.sh
EXTRA_DIST += %D%/follow.py %D%/hosts.py %D%/rounds.py %D%/service.py %D%/suite.py %D%/users.py \
	%D%/watch.py %D%/wire.py
