#!/bin/sh
# cluster_test.sh - every verb of redlock-cluster, used and misused, with real servers.
#
# What it started is found by working directory (the servers' is their data directory, under
# ours), so that a server that got lost is seen, and nobody else's is ever touched.

# shellcheck disable=SC2016,SC2089,SC2090 # what stands in single quotes is meant so

# shellcheck disable=SC1091,SC2154 # shell_rig.sh sets them
. "${srcdir:-.}/tests/support/shell_rig.sh"
cluster=${REDLOCK_CLUSTER:-./bin/redlock-cluster}
server=$(command -v redis-server || command -v valkey-server) || exit 77
cli=$(command -v redis-cli || command -v valkey-cli) || exit 77
unset REDLOCK_SERVER REDISCLI_AUTH

make_work redlock-cluster-test
d=$work/c
background=

ours() { working_in "$work"; }
# shellcheck disable=SC2046,SC2086 # words are wanted
clean_up() { kill_all $background $(ours); }

# STATUS PATTERN ARGUMENT...: the command ends so, and says something that matches ('': says
# nothing at all).
expect() {
    expect_with LC_ALL=C "$@"
}

# The same with VARIABLE=VALUE in its environment.
expect_with() {
    setting=$1 want=$2 pattern=${3:-^\$}
    shift 3
    env "$setting" "$cluster" "$@" >"$work/out" 2>&1 </dev/null
    got=$?
    checks=$((checks + 1))
    if [ $got -ne "$want" ]; then
        fail "redlock-cluster $*: exit status $got, not $want"
    elif [ "$pattern" = '^$' ]; then
        [ ! -s "$work/out" ] || fail "redlock-cluster $*: is not silent"
    elif ! grep -Eq -e "$pattern" "$work/out"; then
        fail "redlock-cluster $*: says nothing like /$pattern/"
    fi
}

not() { ! "$@"; }

# A zombie has ended: that its parent has yet to look is not its fault.
runs() { # PID
    case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in
    '' | Z* | X*) return 1 ;;
    esac
}

ask() { timeout 2 "$cli" -s "$d/$1/redis.sock" "$2" ${3+"$3"} ${4+"$4"} 2>/dev/null; } # INDEX COMMAND...
says() { want=$1; shift; [ "$(ask "$@")" = "$want" ]; } # REPLY INDEX COMMAND...
state_is() { "$cluster" ls --dir "$d" | grep -q "^$1 $2 "; }  # INDEX STATE
mode_is() { [ "$(stat -c %a "$2")" = "$1" ]; }                # MODE FILE
none_left() { [ -z "$(ours)" ]; }
leads_a_session() { # INDEX
    read -r pid rest <"$d/$1/pid"
    [ "$(sed 's/.*) //' "/proc/$pid/stat" | cut -d ' ' -f 4)" = "$pid" ]
}
port_of() { cat "$1/$2/port"; } # DIR INDEX

# ---- cases ----

wrong_usage_is_64_and_shows_right_usage() {
    expect 64 'up N, down, kill I'
    expect 64 'none of up, down' fly
    expect 64 '1 to 64' up
    for n in 0 65 -1 05 five 5x 99999999999; do expect 64 '1 to 64|no option' up $n; done
    expect 64 'counted from 1' kill
    expect 64 'counted from 1' restart 0
    expect 64 'takes no argument' ls 3
    expect 64 'one argument too many' up 3 4
    expect 64 'no option --frob' up 3 --frob=secret
    check 'values of unknown options are not shown' not grep -q secret "$work/out"
    expect 64 'on, off, marker or strict' up 3 --guard maybe
    for ttl in 3 s 3.5s 3w 03s '' ' 3s' 9ms 8d; do expect 64 'max-ttl is' up 3 "--max-ttl=$ttl"; done
    expect 64 'needs a value' up 3 --dir
    expect 64 'dir is empty' up 3 --dir ''
    expect 64 'password is empty' up 3 --password ''
    expect 64 'control character' up 3 --password "two
lines"
    expect 64 'longer than 512' up 3 --password "$(printf '%0513d' 0)"
    expect 64 'does not go with down' down --tls
    expect 64 'does not go with kill' kill 1 --empty
    expect 64 'takes no number' up 3 --sentinel
    for guard in on off; do expect 64 'does not go with --sentinel' up --sentinel --guard $guard; done
    expect 64 'does not go with ls' ls --sentinel
    expect 64 'double quote' up 3 --dir "$work/a\"b"
    expect 64 'too long' up 3 --dir "$work/$(printf '%0100d' 0)"
    expect 0 'usage: redlock-cluster up N' --help
    expect 0 '^redlock-cluster [0-9]+\.[0-9]+\.[0-9]+$' --version
    check 'nothing was made' [ ! -e "$d" ]
}

what_it_says_of_the_library_is_true() {
    from=${srcdir:-.}
    most=$(sed -n 's/^#define REDLOCK_NODES_MAX \([0-9]*\).*/\1/p' "$from/include/redlock.h")
    expect 64 "1 to $most:" up 0
    max_ttl_ms=$(sed -n 's/^#define RL_DEFAULT_MAX_TTL_MS \([0-9]*\)$/\1/p' "$from/lib/base/limits.h")
    expect 0 "no vote for 32s \(max-ttl $((max_ttl_ms / 1000))s\)" up 1 --dir "$d"
    expect 0 '' down --dir "$d"
    expect 0 'no vote for 103s \(max-ttl 100s\)' up 1 --max-ttl 100s --dir "$d" # 101 s and 1 ns
    expect 0 '' down --dir "$d"
}

directory_that_others_can_write_in_is_not_believed() {
    expect 0 'masters up: 1' up 1 --dir "$d"
    for open in "$d" "$d/1" "$d/cluster"; do
        chmod go+w "$open"
        for verb in down 'kill 1' 'restart 1' ls; do
            # shellcheck disable=SC2086 # words are wanted
            expect 1 'others can write in' $verb --dir "$d"
        done
        chmod go-w "$open"
    done
    check 'the master runs on' state_is 1 up
    expect 0 '' down --dir "$d"
}

without_a_cluster() {
    for verb in ls 'kill 1' 'pause 1' 'resume 1' 'restart 1'; do
        # shellcheck disable=SC2086 # words are wanted
        expect 1 'no cluster' $verb --dir "$d"
    done
    expect 0 'no cluster' down --dir "$d"
}

a_server_that_is_missing() {
    expect_with "REDLOCK_SERVER=$work/nothing" 69 'not a program' up 1 --dir "$d"
    expect_with PATH=/nonexistent 69 'nor valkey-server' up 1 --dir "$d"
    check 'no directory is left' [ ! -e "$d" ]
}

a_server_that_does_not_start() {
    printf '#!/bin/sh\necho this one is broken\nexit 1\n' >"$work/broken"
    chmod +x "$work/broken"
    expect_with "REDLOCK_SERVER=$work/broken" 1 'this one is broken' up 2 --dir "$d"
    check 'no directory is left' [ ! -e "$d" ]
}

up_starts_masters_that_answer() {
    expect 0 "node list file: $d/redlock.conf" up 3 --dir "$d" --max-ttl 3s
    check 'the directory is private' mode_is 700 "$d"
    check 'the node list is private' mode_is 600 "$d/redlock.conf"
    check 'three nodes' [ "$(grep -c '^node redis://127.0.0.1:[0-9]*$' "$d/redlock.conf")" = 3 ]
    check 'max-ttl' grep -qx 'max-ttl 3s' "$d/redlock.conf"
    for i in 1 2 3; do
        check "master $i is up" state_is $i up
        port=$(port_of "$d" $i)
        check 'it is in the node list' grep -qx "node redis://127.0.0.1:$port" "$d/redlock.conf"
        check 'it answers there' [ "$("$cli" -p "$port" PING)" = PONG ]
        check 'no Ctrl-C reaches it' leads_a_session $i
        check 'it evicts nothing' [ "$(ask $i CONFIG GET maxmemory-policy | tail -n 1)" = noeviction ]
        check 'it appends' [ "$(ask $i CONFIG GET appendonly | tail -n 1)" = yes ]
    done
    expect 0 "^2 up [0-9]+ [0-9]+ $d/2/redis.sock\$" ls --dir "$d"
    expect 1 'a cluster is in .* already' up 3 --dir "$d"
    check 'the first is unharmed' state_is 1 up
    expect 64 'no master 4; .* has 1 to 3' kill 4 --dir "$d"
}

pause_and_resume() {
    expect 0 '' pause 2 --dir "$d"
    check 'it is paused' state_is 2 paused
    check 'it is silent' not says PONG 2 PING
    expect 0 '' pause 2 --dir "$d"
    expect 0 '' --dir "$d" resume 2
    check 'it is up' state_is 2 up
    check 'it answers' says PONG 2 PING
    check 'the others were left alone' state_is 1 up
}

kill_and_restart() {
    read -r pid rest <"$d/3/pid"
    port=$(port_of "$d" 3)
    check 'a key is set' says OK 3 SET kept yes
    expect 0 '' kill --dir="$d" 3
    check 'it is down' state_is 3 down
    check 'its process has ended' not runs "$pid"
    expect 0 '' kill 3 --dir "$d"
    expect 1 'is down; start it again' pause 3 --dir "$d"
    expect 1 'is down; start it again' resume 3 --dir "$d"
    expect 0 '' restart 3 --dir "$d"
    check 'it has its port' [ "$("$cli" -p "$port" PING)" = PONG ]
    check 'it has its data' says yes 3 GET kept
    expect 0 '' restart 3 --dir "$d"
    check 'restarted while up, it has its data' says yes 3 GET kept
    expect 0 '' pause 3 --dir "$d"
    expect 0 '' restart 3 --dir "$d"
    check 'restarted while paused, it has its data' says yes 3 GET kept
    expect 0 '' restart 3 --empty --dir "$d"
    check 'restarted empty, it has none' says '' 3 GET kept
    check 'the others were left alone' says PONG 1 PING
}

restarts_at_once_leave_one_master() {
    pids=
    for i in 1 2 3 4; do
        "$cluster" restart 1 --dir "$d" >/dev/null 2>&1 &
        pids="$pids $!"
    done
    for p in $pids; do check 'it ends well' wait "$p"; done
    running=0
    for p in $(ours); do
        [ "$(readlink "/proc/$p/cwd")" != "$d/1/data" ] || running=$((running + 1))
    done
    check "one master 1 runs, not $running" [ $running = 1 ]
    check 'it is known' says PONG 1 PING
    check 'it is up' state_is 1 up
}

# Of a pid that is somebody else's now: another start, or another boot.
a_used_again_pid_is_left_alone() {
    sleep 300 &
    stranger=$!
    background="$background $stranger"
    expect 0 '' kill 1 --dir "$d"
    read -r pid born boot <"$d/1/pid"
    read -r stat <"/proc/$stranger/stat"
    # shellcheck disable=SC2086 # words are wanted
    set -- ${stat##*') '}
    for line in "$stranger $born $boot" "$stranger $((${20} + 1)) $boot" \
        "$stranger ${20} another-boot" "$stranger" "" "x y z"; do
        echo "$line" >"$d/1/pid"
        check 'ls says down' state_is 1 down
        expect 0 '' kill 1 --dir "$d"
        expect 1 'is down' pause 1 --dir "$d"
    done
    check 'the stranger lives' runs $stranger
    # The counterpart, without which the above would prove nothing.
    echo "$stranger ${20} $boot" >"$d/1/pid"
    check 'ls says up' state_is 1 up
    echo "$stranger $born $boot" >"$d/1/pid"
    expect 0 '' restart 1 --dir "$d"
    check 'a master is back' state_is 1 up
    kill $stranger
}

down_ends_and_removes_what_up_made() {
    expect 0 '' kill 1 --dir "$d"
    expect 0 '' pause 2 --dir "$d"
    expect 0 '' down --dir "$d"
    check 'nothing runs' none_left
    check 'nothing is left' [ ! -e "$d" ]
    expect 0 'no cluster' down --dir "$d"
}

directories_that_are_refused_or_kept() {
    mkdir "$d"
    echo mine >"$d/file"
    expect 1 'not empty' up 1 --dir "$d"
    rm "$d/file"
    expect 0 'masters up' up 1 --dir "$d/" # an empty one of ours will do
    check 'it was made private' mode_is 700 "$d"
    echo mine >"$d/file"
    expect 0 '' down --dir "$d"
    check 'what is not ours is kept' grep -q mine "$d/file"
    rm "$d/file"
    check 'so is the directory' rmdir "$d"
    expect 0 'masters up' up 1 --dir "$d" # the same where `up` made the directory
    echo mine >"$d/file"
    expect 0 'not ours; they are left' down --dir "$d"
    check 'what is not ours is kept' grep -q mine "$d/file"
    rm -r "$d"
    ln -s "$work" "$d"
    expect 1 'belongs to you' up 1 --dir "$d"
    expect 1 'belongs to you' down --dir "$d"
    rm "$d"
    : >"$d"
    expect 1 'belongs to you' up 1 --dir "$d"
    rm "$d"
    expect 1 'can.t be made' up 1 --dir "$work/no/where"
    if [ "$(id -u)" = 0 ]; then
        mkdir "$d"
        chown 65534 "$d"
        expect 1 'belongs to you' up 1 --dir "$d"
        expect 1 'belongs to you' ls --dir "$d"
        rmdir "$d"
    else
        expect 1 'belongs to you' up 1 --dir /usr
    fi
    expect_with "XDG_RUNTIME_DIR=$work" 0 "$work/redlock-cluster-$(id -u)/" up 1
    expect_with "XDG_RUNTIME_DIR=$work" 0 '' down
    odd="$work/a b#\\c'd"
    expect 0 'masters up' up 1 --dir "$odd" --password p
    check 'it is quoted' grep -qF " password-file=\"$odd/password\"" "$odd/redlock.conf"
    expect 0 '' restart 1 --dir "$odd"
    expect 0 '' down --dir "$odd"
}

# Wrappers that write down the arguments they get, and what ps would show of children.
passwords_stay_off_command_lines() {
    secret='a"b\c #d'\''e'
    mkdir "$work/wrap"
    for name in redis-server redis-cli; do
        real=$server
        [ $name = redis-server ] || real=$cli
        printf '#!/bin/sh\necho "$0 $*" >>%s/arguments\nexec %s "$@"\n' "$work" "$real" \
            >"$work/wrap/$name"
    done
    chmod +x "$work/wrap/redis-server" "$work/wrap/redis-cli"
    expect_with "REDLOCK_SERVER=$work/wrap/redis-server" 0 'masters up' up 2 --dir "$d" --password "$secret"
    check 'server and client were seen' [ "$(grep -c -e redis-server -e PING "$work/arguments")" -ge 4 ]
    check 'not the password' not grep -qF 'a"b' "$work/arguments"
    check 'its file is private' mode_is 600 "$d/password"
    check 'so is the server.s' mode_is 600 "$d/1/redis.conf"
    check 'the node list names the file' grep -q "password-file=$d/password" "$d/redlock.conf"
    check 'and no password' not grep -qF 'a"b' "$d/redlock.conf"
    check 'a stranger is refused' [ -z "$(ask 1 PING | grep PONG)" ]
    REDISCLI_AUTH=$secret
    export REDISCLI_AUTH
    check 'who knows it is not' says PONG 1 PING
    unset REDISCLI_AUTH
    expect 0 '' restart 2 --dir "$d"
    expect 0 '' down --dir "$d"
    check 'nothing is left' [ ! -e "$d" ]
    printf '%s\n' "$secret" | "$cluster" up 1 --password - --dir "$d" >/dev/null
    check 'a password from standard input' [ "$(cat "$d/password")" = "$secret" ]
    expect 0 '' down --dir "$d"
}

tls_ports_have_a_certificate_of_their_own_ca() {
    command -v openssl >/dev/null || { echo 'no openssl program: --tls is not tested'; return; }
    expect 0 'masters up' --tls --guard off up 2 --dir "$d"
    port=$(port_of "$d" 1)
    check 'node list' grep -qx "node rediss://127.0.0.1:$port ca-file=$d/tls/ca.pem" "$d/redlock.conf"
    check 'guard' grep -qx 'guard off' "$d/redlock.conf"
    for name in '-verify_ip 127.0.0.1' '-verify_hostname localhost'; do
        # shellcheck disable=SC2086 # words are wanted
        check 'verified' openssl s_client -connect "127.0.0.1:$port" -CAfile "$d/tls/ca.pem" \
            -verify_return_error $name </dev/null
    done
    check 'not for another name' not openssl s_client -connect "127.0.0.1:$port" \
        -CAfile "$d/tls/ca.pem" -verify_return_error -verify_hostname example.org </dev/null
    check 'not without the CA' not openssl s_client -connect "127.0.0.1:$port" \
        -verify_return_error </dev/null
    check 'a lock' "${REDLOCK:-./bin/redlock}" -n "$d/redlock.conf" run x -- true
    check 'no plain port' [ "$("$cli" -p "$port" PING 2>&1)" != PONG ]
    check 'the CA can sign no more' [ "$(cd "$d/tls" && echo ./*)" = './ca.pem ./server.key ./server.pem' ]
    expect 0 '' kill 1 --dir "$d"
    expect 0 '' restart 1 --dir "$d"
    expect 0 '' down --dir "$d"
}

# Only `up` knows that a master is new.
masters_are_marked_when_they_are_made_and_not_later() {
    expect 0 'masters up' up 2 --dir "$d" --guard marker --max-ttl 60s
    check 'guard' grep -qx 'guard marker' "$d/redlock.conf"
    check 'no word of waiting' not grep -q 'has no vote' "$work/out"
    for i in 1 2; do
        check "master $i is marked" says 1 $i EXISTS libredlock:marker
        check 'and not quarantined' says 0 $i EXISTS libredlock:quarantine
    done
    expect 0 '' restart 1 --empty --dir "$d"
    check 'one that was restarted is not' says 0 1 EXISTS libredlock:marker
    expect 0 '' down --dir "$d"
}

locks() { "${REDLOCK:-./bin/redlock}" -n "$d/redlock.conf" run --wait 60s x -- true; }
names() { # SENTINEL SERVER: the address that it names is the server's
    [ "$(ask "$1" SENTINEL get-master-addr-by-name redlock | tail -n 1)" = "$(port_of "$d" "$2")" ]
}
another_is_named() { # SENTINEL: than 1
    names "$1" 2 || names "$1" 3
}
follows_somebody() { ask "$1" INFO replication | grep -q '^role:slave'; } # INDEX

sentinels_name_a_replica_when_the_master_is_gone() {
    expect 0 'up: a master, two replicas and three Sentinels' up --sentinel --dir "$d" --max-ttl 1s
    check 'it says what the first lock waits for' grep -q 'do not count for 3s (max-ttl 1s)' "$work/out"
    hosts=127.0.0.1:$(port_of "$d" 4),127.0.0.1:$(port_of "$d" 5),127.0.0.1:$(port_of "$d" 6)
    check 'one node' [ "$(grep -v '^#' "$d/redlock.conf" | head -n 1)" = "node redis+sentinel://$hosts/redlock" ]
    check 'max-ttl' grep -qx 'max-ttl 1s' "$d/redlock.conf"
    check 'a lock' locks
    for i in 1 2 3; do expect 0 "^$i up [0-9]+ [0-9]+ $d/$i/redis.sock server\$" ls --dir "$d"; done
    for i in 4 5 6; do
        expect 0 "^$i up [0-9]+ [0-9]+ $d/$i/redis.sock sentinel\$" ls --dir "$d"
        check "Sentinel $i names the master" names $i 1
    done
    check 'a key is set' says OK 1 SET kept yes
    check 'the replicas have it' eval 'await says yes 2 GET kept && await says yes 3 GET kept'
    expect 0 '' kill 1 --dir "$d"
    for i in 4 5 6; do check "Sentinel $i names another" await another_is_named $i; done
    check 'a lock, there' locks
    expect 0 '' restart 6 --dir "$d"
    check 'one that is restarted still does' another_is_named 6
    expect 0 '' pause 4 --dir "$d"
    expect 0 '' pause 5 --dir "$d"
    expect 0 '' restart 6 --empty --dir "$d"
    check 'one that forgot names the first' names 6 1
    expect 0 '' resume 4 --dir "$d"
    expect 0 '' resume 5 --dir "$d"
    check 'it learns from the others' await another_is_named 6
    expect 0 '' restart 1 --dir "$d"
    check 'the former master follows' eval 'await follows_somebody 1 || await follows_somebody 1'
    expect 0 '' down --dir "$d"
    check 'nothing runs' none_left
    check 'nothing is left' [ ! -e "$d" ]
}

sentinels_with_password_and_tls() {
    command -v openssl >/dev/null || { echo 'no openssl program: --tls is not tested'; return; }
    expect 0 'three Sentinels' up --sentinel --dir "$d" --password 'a "b' --tls --max-ttl 1s
    check 'node list' grep -qE "^node rediss\+sentinel://(127.0.0.1:[0-9]+,?){3}/redlock ca-file=$d/tls/ca.pem password-file=$d/password sentinel-password-file=$d/password\$" "$d/redlock.conf"
    check 'a stranger is refused' [ -z "$(ask 4 PING | grep PONG)" ]
    REDISCLI_AUTH='a "b'
    export REDISCLI_AUTH
    expect 0 '' kill 1 --dir "$d"
    check 'another is named' await another_is_named 4
    check 'a lock' locks
    unset REDISCLI_AUTH
    expect 0 '' down --dir "$d"
    check 'nothing is left' [ ! -e "$d" ]
}

# od is what ports are drawn with: the first draw is made to be a port that is taken.
ports_that_are_taken() {
    expect 0 'masters up' up 1 --dir "$work/other"
    taken=$(port_of "$work/other" 1)
    real=$(command -v od)
    mkdir "$work/bin"
    cat >"$work/bin/od" <<END
#!/bin/sh
if mkdir "$work/drawn" 2>/dev/null; then echo $((taken - 20000)); else exec $real "\$@"; fi
END
    chmod +x "$work/bin/od"
    expect_with "PATH=$work/bin:$PATH" 0 'masters up' up 1 --dir "$d"
    check 'the taken port was drawn' [ -d "$work/drawn" ]
    check 'another was used' [ "$(port_of "$d" 1)" != "$taken" ]
    check 'it answers' says PONG 1 PING
    expect 0 '' down --dir "$d"

    # The same at a restart, where the port must stay what it is: it waits for it.
    expect 0 '' kill 1 --dir "$work/other"
    rmdir "$work/drawn"
    expect_with "PATH=$work/bin:$PATH" 0 'masters up' up 1 --dir "$d"
    check 'the port is taken by another' [ "$(port_of "$d" 1)" = "$taken" ]
    "$cluster" restart 1 --dir "$work/other" >"$work/restart" 2>&1 &
    restart=$!
    background="$background $restart"
    check 'it tries' await grep -q 'already in use' "$work/other/1/redis.log"
    expect 0 '' down --dir "$d"
    check 'it has the port in the end' wait $restart
    check 'and answers' [ "$("$cli" -p "$taken" PING)" = PONG ]
    expect 0 '' down --dir "$work/other"
}

# A server that never answers keeps `up` waiting until the signal comes. (The shell starts
# background commands with INT ignored, which env undoes.)
a_signal_during_up_leaves_nothing() {
    printf '#!/bin/sh\ncase $1 in\n*/3/*) cd %s; exec sleep 300 ;;\nesac\nexec %s "$@"\n' \
        "$work" "$server" >"$work/silent"
    chmod +x "$work/silent"
    for signal in INT TERM HUP; do
        REDLOCK_SERVER=$work/silent env --default-signal=INT "$cluster" up 3 --dir "$d" \
            >/dev/null 2>&1 &
        starter=$!
        background="$background $starter"
        check 'the last master is started' await test -s "$d/3/pid"
        check 'the first answers' await says PONG 1 PING
        check 'others see it starting' not "$cluster" up 1 --dir "$d"
        kill -s $signal $starter
        wait $starter
        check "it ends by SIG$signal" [ "$(kill -l $?)" = $signal ]
        check 'nothing runs' none_left
        check 'nothing is left' [ ! -e "$d" ]
    done
}

# What can't clean up after itself leaves behind what `down` needs.
down_after_up_was_killed() {
    "$cluster" up 3 --dir "$d" >/dev/null 2>&1 &
    starter=$!
    background="$background $starter"
    check 'the second master is started' await test -s "$d/2/pid"
    kill -KILL $starter
    wait $starter
    expect 0 '' down --dir "$d"
    check 'nothing runs' none_left
    check 'nothing is left' [ ! -e "$d" ]
}

for case in \
    wrong_usage_is_64_and_shows_right_usage \
    what_it_says_of_the_library_is_true \
    without_a_cluster \
    directory_that_others_can_write_in_is_not_believed \
    a_server_that_is_missing \
    a_server_that_does_not_start \
    up_starts_masters_that_answer \
    pause_and_resume \
    kill_and_restart \
    restarts_at_once_leave_one_master \
    a_used_again_pid_is_left_alone \
    down_ends_and_removes_what_up_made \
    directories_that_are_refused_or_kept \
    passwords_stay_off_command_lines \
    tls_ports_have_a_certificate_of_their_own_ca \
    masters_are_marked_when_they_are_made_and_not_later \
    sentinels_name_a_replica_when_the_master_is_gone \
    sentinels_with_password_and_tls \
    ports_that_are_taken \
    a_signal_during_up_leaves_nothing \
    down_after_up_was_killed; do
    echo "$case"
    $case
done
check 'nothing of ours is left running' none_left
tell
