# redlock_hiredis.m4 - hiredis's reader of replies: linked in and hidden, or shared.
#
# The reader's struct has another shape in each version behind the same names. Bound by name, the
# first definition in the process would serve us, which may be the program's own version. So the
# reader is taken from the archive into an object of our own: lib/local.mk renames what we call
# there, and hides the rest.

AC_DEFUN([REDLOCK_HIREDIS], [
AC_ARG_WITH([shared-hiredis],
  [AS_HELP_STRING([--with-shared-hiredis],
    [use the shared libhiredis, for distributions' packages: redlock_open() refuses
     where the process has bound another one])],
  [], [with_shared_hiredis=no])
AC_ARG_VAR([HIREDIS_ARCHIVE], [path of libhiredis.a, of the headers' version])
PKG_CHECK_MODULES([HIREDIS], [hiredis >= 0.14.1])
# Not ours to mend: newer headers of it have conversions that our warnings name.
HIREDIS_CFLAGS=`AS_ECHO(["$HIREDIS_CFLAGS"]) | sed 's/-I/-isystem /g'`

AS_IF([test "x$with_shared_hiredis" = xno], [REDLOCK_HIREDIS_INSIDE], [REDLOCK_HIREDIS_SHARED])
AM_CONDITIONAL([SHARED_HIREDIS], [test "x$with_shared_hiredis" != xno])
])

# The archive is looked for where pkg-config sends the linker, then where the compiler looks.
AC_DEFUN([REDLOCK_HIREDIS_INSIDE], [
AC_CHECK_TOOL([OBJCOPY], [objcopy])
AC_MSG_CHECKING([for libhiredis.a])
AS_IF([test -z "$HIREDIS_ARCHIVE"], [
  for flag in `$PKG_CONFIG --static --keep-system-libs --libs-only-L hiredis`; do
    AS_IF([test -z "$HIREDIS_ARCHIVE" && test -f "${flag#-L}/libhiredis.a"],
      [HIREDIS_ARCHIVE=${flag#-L}/libhiredis.a])
  done
  AS_IF([test -z "$HIREDIS_ARCHIVE"],
    [HIREDIS_ARCHIVE=`$CC $CFLAGS -print-file-name=libhiredis.a`])
])
AS_IF([test -f "$HIREDIS_ARCHIVE"], [AC_MSG_RESULT([$HIREDIS_ARCHIVE])], [
  AC_MSG_RESULT([no])
  AC_MSG_ERROR([there is no libhiredis.a to link in: install it, name it by HIREDIS_ARCHIVE=, or use the shared library by --with-shared-hiredis])
])
AC_MSG_CHECKING([whether it can be linked in and hidden])
AS_IF([test -n "$OBJCOPY" &&
       $LD -r -u redisReaderCreateWithFunctions -o conftest.$ac_objext "$HIREDIS_ARCHIVE" \
         >&AS_MESSAGE_LOG_FD 2>&1 &&
       $OBJCOPY -G redisReaderCreateWithFunctions conftest.$ac_objext >&AS_MESSAGE_LOG_FD 2>&1 &&
       $CC $CFLAGS $LDFLAGS -shared -o conftest.so conftest.$ac_objext \
         >&AS_MESSAGE_LOG_FD 2>&1],
  [AC_MSG_RESULT([yes])], [
  AC_MSG_RESULT([no])
  AC_MSG_ERROR([libhiredis.a can't be made a part of a shared library (see config.log): use the shared one by --with-shared-hiredis])
])
rm -f conftest.$ac_objext conftest.so
AC_DEFINE([HIDDEN_HIREDIS], [1], [hiredis's reader is a part of this library, under own names.])
HIREDIS_INSIDE=$HIREDIS_ARCHIVE
])

# What the linker finds now is what must be found later: its soname is kept.
AC_DEFUN([REDLOCK_HIREDIS_SHARED], [
AC_MSG_CHECKING([for the soname of libhiredis])
save_LIBS=$LIBS
LIBS="$HIREDIS_LIBS $LIBS"
hiredis_soname=
AC_LINK_IFELSE([AC_LANG_PROGRAM([[void *redisReaderCreateWithFunctions(void *);]],
    [[return redisReaderCreateWithFunctions(0) != 0;]])],
  [hiredis_soname=`LC_ALL=C readelf -d conftest$ac_exeext 2>/dev/null |
     sed -n 's/.*NEEDED.*\@<:@\(libhiredis\.so@<:@^@:>@@:>@*\)@:>@.*/\1/p'`])
LIBS=$save_LIBS
AS_IF([test -z "$hiredis_soname"], [
  AC_MSG_RESULT([none])
  AC_MSG_ERROR([--with-shared-hiredis: the linker finds no shared libhiredis, or there is no readelf])
])
AC_MSG_RESULT([$hiredis_soname])
AC_SEARCH_LIBS([dladdr], [dl], [],
  [AC_MSG_ERROR([--with-shared-hiredis: there is no dladdr() to see which one is bound])])
AC_DEFINE_UNQUOTED([SHARED_HIREDIS], ["$hiredis_soname"], [The shared hiredis that is used.])
HIREDIS_INSIDE="shared, $hiredis_soname"
])
