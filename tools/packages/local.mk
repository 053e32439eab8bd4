# local.mk - packages for Debian and its like, made of the tarball.

# The tarball's time is DIST_TIME, and so is that of all within.
deb: dist-gzip
	$(srcdir)/%D%/make-deb $(distdir).tar.gz packages
.PHONY: deb

EXTRA_DIST += %D%/make-deb %D%/debian tests/packages

# In bare Debian systems: tests/packages/check.sh says what it needs.
check-packages: dist-gzip
	sh $(top_srcdir)/tests/packages/check.sh $(distdir).tar.gz $(SUITES)
.PHONY: check-packages
