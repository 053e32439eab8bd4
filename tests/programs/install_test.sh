#!/bin/sh
# install_test.sh - what `make install` puts where: programs in C and C++ are built against a
# staged tree, and against the same tree moved, by pkg-config and by CMake; then `make uninstall`
# leaves nothing.

# shellcheck disable=SC1091,SC2154 # shell_rig.sh sets them
. "${srcdir:-.}/tests/support/shell_rig.sh"
srcdir=$(cd "${srcdir:-.}" && pwd) || exit 99
builddir=$(cd "${builddir:-.}" && pwd) || exit 99
word() { sed -n "s/^$1 *= *//p" "$builddir/Makefile"; } # NAME: what configure has left there
if ! [ -e "$builddir/.libs/libredlock.so" ] || [ -n "$(word SANITIZE_CFLAGS)" ]; then
    echo 'what this build has is for no installation: no shared library, or sanitizers'
    exit 77
fi
unset CFLAGS CPPFLAGS CXXFLAGS LDFLAGS MAKEFLAGS MFLAGS MAKELEVEL DESTDIR PKG_CONFIG_PATH \
    PKG_CONFIG_SYSROOT_DIR REDLOCK_NODES
cc=${CC:-cc}
make_work redlock-install

by_make() { make -s -C "$builddir" "DESTDIR=$work/tree" "$@" >"$work/out" 2>&1; } # TARGET...
check 'make install' by_make install
[ "$failures" -eq 0 ] || exit 1

prefix=$(word prefix)
# shellcheck disable=SC2034 # libdir may say so
exec_prefix=$(eval "echo \"$(word exec_prefix)\"")
libdir=$(eval "echo \"$(word libdir)\"")
lib=${libdir#"$prefix"}
here=$work/tree$prefix

# ---- programs ----

mkdir "$work/programs"
cat >"$work/programs/in_c.c" <<'END'
#include <redlock.h>
#include <stdio.h>
int main(void)
{
    redlock *client;
    int code = redlock_open("/nowhere/redlock.conf", NULL, &client);
    return printf("%s of redlock %s\n", redlock_err_name(code), redlock_version()) < 0;
}
END
cat >"$work/programs/in_cxx.cc" <<'END'
#include <iostream>
#include <redlock.hpp>
int main()
{
    const auto client = redlock::client::open("/nowhere/redlock.conf");
    std::cout << redlock_err_name(client.code()) << " of redlock " << redlock_version() << '\n';
}
END
version=$(word PACKAGE_VERSION)
runs() { # PROGRAM
    LD_LIBRARY_PATH=$here$lib "$1" >"$work/out" 2>&1 &&
        [ "$(cat "$work/out")" = "REDLOCK_ECONFIG of redlock $version" ]
}
is_linked() { # shared|static PROGRAM
    readelf -d "$2" >"$work/out" || return 1
    if [ "$1" = shared ]; then
        grep -q 'NEEDED.*libredlock\.so\.0' "$work/out"
    else
        ! grep -q 'NEEDED.*libredlock' "$work/out"
    fi
}
good() { # shared|static PROGRAM
    check "$2 is linked with the $1 library" is_linked "$1" "$2"
    check 'and runs' runs "$2"
}
kinds='shared static'
static_can_be_linked "$builddir" || {
    echo 'nothing is linked with the static library: what OpenSSL needs for that is not installed'
    kinds=shared
}
has_cxx() { command -v c++ >/dev/null; }
has_cxx || echo 'there is no c++: nothing is compiled in C++'

# ---- pkg-config: it finds no file of a package that is not ours ----

by_pkg_config() { # SOURCE COMPILER...
    source=$work/programs/$1
    shift
    # shellcheck disable=SC2046 # words are wanted
    "$@" -o "$work/program" "$source" $(cat "$work/flags") >"$work/out" 2>&1
}
asks_for_ours_alone() {
    # shellcheck disable=SC2046 # words are wanted
    ${CC:-cc} -M $(cat "$work/flags") "$work/programs/in_c.c" >"$work/out" || return 1
    ! grep -Eiq 'openssl|hiredis|uuid' "$work/out" "$work/flags"
}
pkg() { # ARGUMENT...
    # shellcheck disable=SC2086 # may be no word at all
    env PKG_CONFIG_LIBDIR="$here$lib/pkgconfig" pkg-config $moved "$@" redlock
}
write_flags() { pkg "$@" --cflags --libs >"$work/flags"; } # ARGUMENT...
try_pkg_config() { # HOW
    how=$1
    check "pkg-config has flags, $how" write_flags
    check 'and they name nothing but what is ours' asks_for_ours_alone
    # shellcheck disable=SC2086 # words are wanted
    check "C by pkg-config, $how" by_pkg_config in_c.c $cc
    good shared "$work/program"
    if has_cxx; then
        check "C++ by pkg-config, $how" by_pkg_config in_cxx.cc c++ -std=c++17
        good shared "$work/program"
    fi
    case $kinds in *static*) ;; *) return ;; esac
    check "pkg-config has flags for the static library, $how" write_flags --static
    sed -i 's/-lredlock/-l:libredlock.a/' "$work/flags"
    # shellcheck disable=SC2086 # words are wanted
    check "static by pkg-config, $how" by_pkg_config in_c.c $cc
    good static "$work/program"
}

# ---- CMake ----

by_cmake() { # COMPONENTS...
    rm -rf "$work/project"
    cp -r "$work/programs" "$work/project"
    cat >"$work/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.7)
project(probe C $(! has_cxx || echo CXX))
set(CMAKE_CXX_STANDARD 17)
find_package(redlock 0.1 REQUIRED $*)
find_package(redlock REQUIRED)
add_executable(in_c in_c.c)
target_link_libraries(in_c redlock::redlock)
if(CMAKE_CXX_COMPILER)
  add_executable(in_cxx in_cxx.cc)
  target_link_libraries(in_cxx redlock::redlock)
endif()
END
    (mkdir "$work/project/b" && cd "$work/project/b" && CC=$cc cmake "-DCMAKE_PREFIX_PATH=$here" .. &&
        cmake --build .) >"$work/out" 2>&1
}
try_cmake() { # KIND HOW COMPONENTS...
    kind=$1 how=$2
    shift 2
    check "CMake builds, $how" by_cmake "$@"
    good "$kind" "$work/project/b/in_c"
    ! has_cxx || good "$kind" "$work/project/b/in_cxx"
}

# What finds it, and what does not: the rest of find_package(redlock ...), in one project.
wishes() {
    cat <<END
yes
yes 0
yes $version EXACT
yes ${version%.*}
yes 0...$version
yes COMPONENTS shared
no COMPONENTS static
no COMPONENTS static shared
no COMPONENTS neither
no $((${version%%.*} + 1))
no $version.1
no 0...<$version
END
}
ask_cmake() {
    rm -rf "$work/project"
    mkdir -p "$work/project/b"
    {
        printf 'cmake_minimum_required(VERSION 3.19)\nproject(probe NONE)\n'
        wishes | sed 's/^[a-z]* *//' | while read -r wish; do
            echo "find_package(redlock $wish QUIET)"
            echo "message(STATUS \"answer \${redlock_FOUND} redlock $wish\")"
        done
        printf 'set(CMAKE_SIZEOF_VOID_P 2)\nfind_package(redlock QUIET)\n'
        echo "message(STATUS \"answer \${redlock_FOUND} redlock of other pointers\")"
    } >"$work/project/CMakeLists.txt"
    (cd "$work/project/b" && cmake "-DCMAKE_PREFIX_PATH=$here" ..) >"$work/out" 2>&1 &&
        sed -n 's/^-- answer 1 /yes /p; s/^-- answer 0 /no /p' "$work/out" >"$work/answers"
}

# ---- the two trees ----

moved=''
PKG_CONFIG_SYSROOT_DIR=$work/tree
export PKG_CONFIG_SYSROOT_DIR
try_pkg_config staged
if command -v cmake >/dev/null; then
    try_cmake shared staged
    check 'CMake looks for versions' ask_cmake
    { wishes | sed 's/ / redlock /; s/^yes$/yes redlock /' && echo 'no redlock of other pointers'; } >"$work/expected"
    check 'and finds those that do' diff "$work/expected" "$work/answers"
else
    echo 'skipped: what CMake builds, because there is no cmake'
fi

here=$work/moved/elsewhere
mkdir "$work/moved"
cp -r "$work/tree$prefix" "$here"
mv "$work/tree" "$work/away" # nothing may be found there
unset PKG_CONFIG_SYSROOT_DIR
moved=--define-prefix
try_pkg_config moved
if command -v cmake >/dev/null; then
    try_cmake shared moved COMPONENTS shared
    case $kinds in *static*) try_cmake static moved COMPONENTS static ;; esac
    rm "$here$lib"/libredlock.so*
    case $kinds in *static*) try_cmake static 'without the shared library' ;; esac
fi

# ---- and away ----

mv "$work/away" "$work/tree"
check 'make uninstall' by_make uninstall
find "$work/tree" ! -type d >"$work/left"
check 'leaves no file' [ ! -s "$work/left" ]
tell
