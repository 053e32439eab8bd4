#!/bin/sh
# tags: long unsanitized
# pages_test.sh - what README.md and docs/GUIDE.md have typed, pasted as one session into the shells
# that people use, twice in a row in one directory. The programs are those of this build.
# shellcheck disable=SC1091,SC2154 # shell_rig.sh, and what make sets

. "${srcdir:-.}/tests/support/shell_rig.sh"
root=$(cd "${srcdir:-.}" && pwd) || exit 99
for program in redis-server redis-cli pkg-config; do
    command -v $program >/dev/null || {
        echo "there is no $program"
        exit 77
    }
done
[ -e "$builddir/.libs/libredlock.so.0" ] || {
    echo "this build has no shared library"
    exit 77
}
make_work rl-pages
clean_up() {
    for shell in bash zsh sh; do
        [ ! -d "$work/$shell/five" ] ||
            "$REDLOCK_CLUSTER" down --dir "$work/$shell/five" >/dev/null 2>&1
    done
}

# As `make install` would leave it, but where it was built.
mkdir "$work/pc" "$work/bin"
printf 'Name: redlock\nDescription: redlock\nVersion: 0\nCflags: -I%s/include\nLibs: -L%s/.libs -lredlock\n' \
    "$root" "$builddir" >"$work/pc/redlock.pc"
ln -s "$REDLOCK" "$work/bin/redlock"
ln -s "$REDLOCK_CLUSTER" "$work/bin/redlock-cluster"

# shellcheck disable=SC2016 # no command is meant
blocks() { # PAGE: its blocks for a shell, but what is installed before
    sed -n '/^```sh$/,/^```$/p' "$root/$1" | grep -v -e '^```' -e '^apt-get ' \
        -e '^\./autogen.sh'
}
{
    blocks README.md
    blocks docs/GUIDE.md
} >"$work/session"
cat "$work/session" "$work/session" >"$work/twice"
check 'the pages have something typed' [ "$(wc -l <"$work/session")" -gt 30 ]

# An interactive shell, without a terminal: it reads a line when it has done the one before.
paste_into() { # SHELL COMMAND...
    shell=$1
    shift
    mkdir "$work/$shell" && cd "$work/$shell" && ln -s "$root/examples" examples || exit 1
    env -u REDLOCK_NODES PATH="$work/bin:$PATH" PKG_CONFIG_PATH="$work/pc" HOME="$work/$shell" \
        LD_LIBRARY_PATH="$builddir/.libs" "$@" <"$work/twice" >"$work/$shell.out" 2>&1
}
says() { grep -q -- "$2" "$work/$1.out"; }
says_twice() { [ "$(grep -c -- "$2" "$work/$1.out")" -eq 2 ]; }
has_trouble() {
    grep -nE 'not found|parse error|bad pattern|no matches|unknown file attribute|No such file|is not empty|no node list|there is no cluster|[uU]sage:' \
        "$work/$1.out"
}

# Once more as a script, which ends at the first line that fails. status says 1 where it is
# DEGRADED, which is what README.md shows.
as_script() {
    mkdir "$work/sh" && cd "$work/sh" && ln -s "$root/examples" examples || exit 1
    sed '0,/^redlock status$/s//redlock status || [ $? = 1 ]/' "$work/session" >script
    env -u REDLOCK_NODES PATH="$work/bin:$PATH" PKG_CONFIG_PATH="$work/pc" HOME="$work/sh" \
        LD_LIBRARY_PATH="$builddir/.libs" sh -eu ./script >"$work/sh.out" 2>&1 </dev/null
    echo "ended with $?" >>"$work/sh.out"
}

as_script &
script=$!
paste_into bash bash --norc -i &
pasted=$!
if command -v zsh >/dev/null; then
    paste_into zsh zsh -f -i
else
    echo 'there is no zsh'
fi
wait $pasted $script
cp "$work/sh.out" "$work/out"
check 'as a script all of it goes well' says sh '^ended with 0$'
for shell in bash zsh; do
    [ -f "$work/$shell.out" ] || continue
    cp "$work/$shell.out" "$work/out"
    check "$shell: no line is misunderstood" eval "! has_trouble $shell"
    check "$shell: the program of README.md takes its lock" says_twice $shell 'orders:42 is ours for '
    check "$shell: a command runs" says_twice $shell 'nobody else is at it$'
    check "$shell: readers do" says_twice $shell 'others may read too$'
    check "$shell: of two names both are had" says_twice $shell 'both of them or none$'
    check "$shell: status tells of the dead ones" says_twice $shell 'DEGRADED: 3 of 5'
    check "$shell: the program of the guide counts" says $shell 'counter is 1'
    check "$shell: and again" says $shell 'counter is 2'
    check "$shell: the job of the guide runs" says_twice $shell 'the job$'
    check "$shell: all masters vote at last" says $shell 'fit: 5 of 5'
    check "$shell: rights are printed" says_twice $shell 'ACL SETUSER'
    check "$shell: nothing is left running" [ -z "$(working_in "$work/$shell/five")" ]
done
tell
