# local.mk - the examples, built with the rest so that they can't rot.

# tests/programs/example_test.sh builds them as users do.
noinst_PROGRAMS = %D%/fenced_store %D%/first %D%/locksmith %D%/minimal %D%/poll
%C%_fenced_store_SOURCES = %D%/fenced_store.c
%C%_fenced_store_LDADD = libredlock.la
%C%_first_SOURCES = %D%/first.c
%C%_first_LDADD = libredlock.la
%C%_locksmith_SOURCES = %D%/locksmith.c
%C%_locksmith_LDADD = libredlock.la
%C%_minimal_SOURCES = %D%/minimal.c
%C%_minimal_LDADD = libredlock.la
%C%_poll_SOURCES = %D%/poll.c
%C%_poll_LDADD = libredlock.la
EXTRA_DIST += %D%/alerts.yaml %D%/fenced_sql.sh %D%/master/redis.conf %D%/master/users.acl \
	%D%/systemd/billing.service %D%/systemd/redis-locks.service %D%/kubernetes/billing.yaml \
	%D%/kubernetes/cronjob.yaml %D%/kubernetes/masters.yaml %D%/systemd/nightly.service \
	%D%/systemd/nightly.timer
if HAVE_LIBUV
noinst_PROGRAMS += %D%/libuv
%C%_libuv_SOURCES = %D%/libuv.c
%C%_libuv_CFLAGS = $(AM_CFLAGS) $(LIBUV_CFLAGS)
%C%_libuv_LDADD = libredlock.la $(LIBUV_LIBS)
endif
if HAVE_LIBEVENT
noinst_PROGRAMS += %D%/libevent
%C%_libevent_SOURCES = %D%/libevent.c
%C%_libevent_CFLAGS = $(AM_CFLAGS) $(LIBEVENT_CFLAGS)
%C%_libevent_LDADD = libredlock.la $(LIBEVENT_LIBS)
endif
EXTRA_DIST += %D%/asio.cc
if HAVE_ASIO
noinst_SCRIPTS = %D%/asio
CLEANFILES += %D%/asio %D%/asio.o
%D%/asio.o: %D%/asio.cc include/redlock.h include/redlock.hpp
	$(AM_V_GEN)$(MKDIR_P) %D% && $(CXX) -std=c++20 -Wall -Wextra $(CPPFLAGS) $(SANITIZE_CFLAGS) \
	  $(CXXFLAGS) -pthread -I$(top_srcdir)/include -c -o $@ $(srcdir)/%D%/asio.cc
%D%/asio: %D%/asio.o libredlock.la
	$(AM_V_GEN)$(LIBTOOL) --silent --tag=CC --mode=link $(CXX) $(SANITIZE_CFLAGS) $(CXXFLAGS) \
	  $(LDFLAGS) -pthread -o $@ %D%/asio.o libredlock.la
endif
