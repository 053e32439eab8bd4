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

# The tools in an image, from the package.
image: deb
	$(top_srcdir)/docker/build-tools-image "`ls -t packages/redlock-tools_*.deb | head -n 1`" $(TAG)

# As docker runs it: for that a daemon must answer.
check-image: image
	srcdir=$(srcdir) sh $(srcdir)/tests/packages/image_test.sh $(TAG)
.PHONY: image check-image
