# use.sh - the packages of inside.sh are installed, upgraded and removed, while a program and a
# command hold a lock. Sourced.
# shellcheck shell=sh disable=SC2154 # what inside.sh sets

# All files but those that apt and dpkg keep for themselves.
list_files() {
    find / '(' -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /check -o \
        -path /var/cache -o -path /var/log -o -path /var/lib/apt -o -path /var/lib/dpkg ')' \
        -prune -o -print | sort >"$1"
}
install_from() { # DIRECTORY
    for deb in "$1"/*.deb; do
        case $deb in *-dbgsym_*) ;; *) echo "/check/$deb" ;; esac
    done | xargs apt-get -q -y --no-install-recommends install
}
start_masters() {
    redlock-cluster up 3 --max-ttl 3s --dir /check/three || return 1
    ports=$(sed -n 's|^node redis://127.0.0.1:\([0-9]*\).*|\1|p' three/redlock.conf)
    [ "$(echo "$ports" | wc -l)" = 3 ] || return 1
    tries=0
    until redlock -n three/redlock.conf status | grep '^fit: 3 of 3'; do
        [ $((tries = tries + 1)) -lt 100 ] || return 1
        sleep 0.2
    done
}
# What each master has of a lock, once where they say the same.
votes() { # NAME
    for port in $ports; do redis-cli -p "$port" get "$1"; done | sort -u
}
start_holders() {
    # shellcheck disable=SC2046 # words are wanted
    cc -Wall -Werror -o holder holder.c $(pkg-config --cflags --libs redlock) || return 1
    mkfifo program.end run.end
    ./holder three/redlock.conf by-program <program.end >program.out 2>&1 &
    program=$!
    redlock -n three/redlock.conf run by-run -- sh -c 'echo holding; cat run.end' >run.out 2>&1 &
    run=$!
    exec 8>program.end 9>run.end
    tries=0
    until grep -q holding program.out && grep -q holding run.out; do
        [ $((tries = tries + 1)) -lt 100 ] || return 1
        sleep 0.1
    done
    by_program=$(votes by-program) by_run=$(votes by-run)
    [ -n "$by_program" ] && [ -n "$by_run" ]
}
# A lock that was lost and taken again would have another token.
still_held() {
    kill -0 $program && kill -0 $run &&
        [ "$(votes by-program)" = "$by_program" ] && [ "$(votes by-run)" = "$by_run" ]
}
others_are_refused() {
    for name in by-program by-run; do
        redlock -n three/redlock.conf run --try $name -- true
        [ $? = 75 ] || return 1
    done
}
upgraded() {
    dpkg -l 'redlock*' 'libredlock*' | grep '^ii' >installed
    [ "$(wc -l <installed)" = 3 ] && ! grep -q '0\.0\.9' installed
}
play_test() { # NAME
    mkdir -p "/tmp/$1" &&
        (cd "$tree" && AUTOPKGTEST_TMP=/tmp/$1 timeout 300 "tools/packages/debian/tests/$1")
}
end_holders() {
    exec 8>&- 9>&-
    wait $program && wait $run && grep 'validity [1-9].*, release REDLOCK_OK' program.out &&
        [ -z "$(votes by-program)$(votes by-run)" ]
}
nothing_left() {
    list_files after
    diff before after && ! dpkg -l | grep redlock && ! ldconfig -p | grep redlock
}

list_files before
step 'the lower version is installed' install_from lower
step 'three masters vote' start_masters
step 'a program and a command hold a lock' start_holders
step 'the packages are upgraded' install_from new
step 'to the new version' upgraded
step 'both locks are held as before' still_held
step 'and nobody else gets them' others_are_refused
step 'the first program in C and in C++' play_test first-program
step 'the story' play_test story
step 'the packages are removed' apt purge libredlock0 libredlock-dev redlock-tools
step 'both locks are held as before' still_held
sleep 4 # longer than a lease: they are renewed without the package
step 'and a lease later' still_held
step 'the holders end well, and release' end_holders
step 'no file is left' nothing_left
for port in $ports; do redis-cli -p "$port" shutdown nosave; done >/dev/null 2>&1
