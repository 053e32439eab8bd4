# local.mk - docs/OPERATING.md played, and what it ships checked.

CLEANFILES += %D%/names.so
EXTRA_DIST += %D%/names.c %D%/lab.py %D%/play.py %D%/unit.py %D%/manifests.py %D%/bin
%D%/names.so: %D%/names.c
	$(AM_V_CCLD)$(MKDIR_P) %D% && $(CC) $(WARN_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -fPIC \
	  -shared -o $@ $(srcdir)/%D%/names.c -ldl
check_DATA += %D%/names.so

# All lists; for upgrades it fetches servers, as check-servers does. 8 minutes.
check-operating: all %D%/names.so
	$(srcdir)/tests/interop/build_peers.sh interop-peers servers
	sh $(srcdir)/%D%/whole.sh $(srcdir) . interop-peers/servers
EXTRA_DIST += %D%/whole.sh

# Against the schemas of Kubernetes, which a package of PyPI has.
manifests = $(srcdir)/examples/kubernetes/*.yaml
check-manifests:
	test -x manifests-venv/bin/kubernetes-validate || { python3 -m venv manifests-venv && \
	  manifests-venv/bin/pip install -q --disable-pip-version-check kubernetes-validate==1.37.0; }
	manifests-venv/bin/python -B $(srcdir)/%D%/manifests.py $(srcdir)/examples/master/redis.conf \
	  $(manifests)

# The table of refusals, into the manual.
night: tests/repo/night
	srcdir=$(srcdir) tests/repo/night --write
.PHONY: check-operating check-manifests night
