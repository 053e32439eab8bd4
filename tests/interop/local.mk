# local.mk - the library beside other lock clients.

# The drivers of other lock clients. Nothing else here downloads anything, or needs what this does.
check-peers: bin/redlock-chaos
	REDLOCK_CHAOS='$(abs_builddir)/bin/redlock-chaos' $(srcdir)/%D%/peers_test.sh || \
	  test $$? -eq 77
.PHONY: check-peers
# The library and other lock clients on the same masters. It downloads them, below DIR.
EXTRA_PROGRAMS += %D%/ours
%C%_ours_SOURCES = %D%/ours.c %D%/ours.h %D%/ours_pairs.c \
	%D%/ours_verbs.c
%C%_ours_CPPFLAGS = -I$(top_srcdir)/include
%C%_ours_LDADD = libredlock.la
INTEROP_PEERS = redisson-4 redisson-3 spring redsync redislock node-redlock redis-semaphore \
	python rslock servers
interop-peers:
	$(srcdir)/%D%/build_peers.sh $@ $(INTEROP_PEERS)
check-interop: %D%/ours interop-peers
	python3 -B $(srcdir)/%D%/suite.py --ours %D%/ours --peers interop-peers \
	  $(INTEROP_OPTIONS)
# How fast they are, side by side.
RATES_PEERS = redsync node-redlock python rslock
peer-rates: %D%/ours
	$(srcdir)/%D%/build_peers.sh interop-peers $(RATES_PEERS)
	python3 -B $(srcdir)/%D%/rates.py --ours %D%/ours --peers interop-peers $(RATES_OPTIONS)
# A copy of the sources, in which one rule after the other is broken.
interop-mutants: interop-peers
	rm -rf interop-mutants.src
	$(MAKE) $(AM_MAKEFLAGS) distdir distdir=interop-mutants.src
	chmod -R u+w interop-mutants.src
	MUTANTS='$(MUTANTS)' BUDGET='$(BUDGET)' $(srcdir)/%D%/mutants.sh interop-mutants.src interop-peers
# Tests of locks, markers and rights on each server that can be had.
check-servers: bin/redlock bin/server_clock.so
	$(MAKE) $(AM_MAKEFLAGS) $$(awk '!/^#/ && NF { print $$1 }' $(srcdir)/%D%/servers_tests.txt)
	$(srcdir)/%D%/build_peers.sh interop-peers servers
	$(srcdir)/%D%/servers_check.sh . interop-peers
.PHONY: check-servers check-interop interop-peers interop-mutants peer-rates
clean-local:
	rm -rf interop-peers interop-mutants.src manifests-venv
EXTRA_DIST += %D%/servers_check.sh %D%/servers_tests.txt %D%/build_peers.sh %D%/cases_crowd.py %D%/cases_every.py %D%/cases_fair.py \
	%D%/cases_fenced.py %D%/cases_kinds.py %D%/cases_quarantine.py %D%/cases_several.py %D%/cases_shared.py %D%/clients.py \
	%D%/compare.py %D%/masters.py %D%/mutants.sh %D%/mutants.txt %D%/node-redlock/index.js \
	%D%/node-redlock/package-lock.json %D%/node-redlock/package.json %D%/peers_test.sh \
	%D%/python/driver.py %D%/python/requirements.txt %D%/rates.py %D%/redis-semaphore/index.js \
	%D%/redis-semaphore/package-lock.json %D%/redis-semaphore/package.json \
	%D%/redislock/go.mod %D%/redislock/go.sum %D%/redislock/main.go \
	%D%/redisson/Connect.java %D%/redisson/Contend.java %D%/redisson/Driver.java %D%/redisson/pom.xml %D%/redsync/go.mod %D%/redsync/go.sum \
	%D%/redsync/main.go %D%/rslock/Cargo.toml %D%/rslock/main.rs %D%/scene.py \
	%D%/servers/list.txt %D%/single_master.py %D%/spring/Driver.java %D%/spring/pom.xml \
	%D%/stage.py %D%/suite.py %D%/watched.py
