# local.mk - the package that CMake's find_package(redlock) finds.

cmakedir = $(libdir)/cmake/redlock
nodist_cmake_DATA = %D%/redlock-config.cmake %D%/redlock-config-version.cmake
CLEANFILES += $(nodist_cmake_DATA)
EXTRA_DIST += %D%/redlock-config.cmake.in %D%/redlock-config-version.cmake.in
$(nodist_cmake_DATA): Makefile %D%/redlock-config.cmake.in %D%/redlock-config-version.cmake.in
	$(AM_V_GEN)$(MKDIR_P) %D% && sed -e 's|@cmakedir[@]|$(cmakedir)|' -e 's|@libdir[@]|$(libdir)|' \
	  -e 's|@includedir[@]|$(includedir)|' -e 's|@PACKAGE_VERSION[@]|$(PACKAGE_VERSION)|' \
	  -e 's|@PRIVATE_LIBS[@]|$(PRIVATE_LIBS)|' -e 's|@SIZEOF_VOID_P[@]|$(SIZEOF_VOID_P)|' \
	  $(srcdir)/$@.in >$@.tmp && mv $@.tmp $@
