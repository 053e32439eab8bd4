#!/bin/sh
# image_test.sh - the image of the tools, run by docker beside masters in containers: as the first
# process of a container and as one beside another, signals are passed on and orphans reaped,
# and the lock is given up. `make check-image` calls it. Its argument is the image.
#
# Nothing is fetched: the masters' image is docker/build-image's, and busybox is this machine's.

# shellcheck disable=SC1091,SC2154,SC2317 # shell_rig.sh, and what is called by name
srcdir=${srcdir:-.}
. "$srcdir/tests/support/shell_rig.sh"
image=${1:-redlock-tools:local}
for need in docker redis-server busybox; do
    command -v $need >/dev/null || {
        echo "there is no $need"
        exit 77
    }
done
docker info >/dev/null 2>&1 || {
    echo 'no docker daemon answers'
    exit 77
}
make_work redlock-image
tag=redlock-test-$$
net=$tag-net
clean_up() {
    docker ps -aq --filter "name=$tag" | xargs -r docker rm -f -v
    docker network rm $net
    docker rmi -f $tag-redis $tag-app
} >/dev/null 2>&1

# ---- masters, and an image that has commands to be run ----

cp "$(command -v busybox)" "$work/busybox"
cat >"$work/Dockerfile" <<END
FROM $image
COPY busybox /bin/busybox
COPY work /bin/work
END
# What a command leaves behind is what its container's first process inherits.
cat >"$work/work" <<'END'
#!/bin/busybox sh
trap 'echo told; exit 7' TERM
for i in 1 2 3; do busybox sh -c 'busybox sleep 0.1 & exec busybox true'; done
busybox sleep 1
echo working
while :; do busybox sleep 0.1; done
END
chmod +x "$work/work" "$work/busybox"
masters() {
    docker network create $net && for i in 1 2 3; do
        docker run -d --name $tag-m$i --network $net --network-alias m$i $tag-redis \
            redis-server --port 6379 --protected-mode no --save '' || return 1
    done
}
nodes='redis://m1 redis://m2 redis://m3 max-ttl=2s'
redlock() { docker run --rm --network $net -e "REDLOCK_NODES=$nodes" $image "$@"; }
fit() { redlock status >"$work/out" 2>&1 && grep -q '^fit: 3 of 3' "$work/out"; }
check 'the image of the masters' "$srcdir/docker/build-image" $tag-redis
check 'an image on top' docker build -q -t $tag-app "$work"
check 'three masters' masters
check 'they vote' await fit

# ---- what the image is ----

check 'it is small' [ "$(docker image inspect -f '{{.Size}}' "$image")" -lt 20000000 ]
check 'its user is not root' [ "$(docker image inspect -f '{{.Config.User}}' "$image")" = 65532:65532 ]
check 'it needs no file to be writable, and no capability' docker run --rm --network $net --read-only \
    --cap-drop ALL -e "REDLOCK_NODES=$nodes" "$image" status

# ---- redlock run, and what docker tells it ----

holds() { [ -n "$(docker exec $tag-m1 redis-cli get job)" ]; }
free() { for i in 1 2 3; do [ -z "$(docker exec $tag-m$i redis-cli get job)" ] || return 1; done; }
is_working() { docker logs $tag-app 2>&1 | grep -qx working; }
no_zombies() {
    docker exec $tag-app busybox ps -o stat,comm >"$work/ps" && grep -q 'redlock' "$work/ps" &&
        ! grep '^Z' "$work/ps"
}
plays() { # HOW ARGUMENT...
    how=$1
    shift
    check "$how: it begins" docker run -d --name $tag-app -e "REDLOCK_NODES=$nodes" "$@" \
        $tag-app run job -- work
    check "$how: the command runs" await is_working
    check "$how: under the lock" holds
    check "$how: orphans are reaped" no_zombies
    check "$how: another is refused" eval '! redlock lock --try job'
    check "$how: docker stops it" docker stop -t 10 $tag-app
    docker logs $tag-app >"$work/out" 2>&1
    check "$how: the command was told" grep -qx told "$work/out"
    check "$how: its status is passed on" [ "$(docker inspect -f '{{.State.ExitCode}}' $tag-app)" = 7 ]
    check "$how: the lock is free" free
    docker rm -f $tag-app >/dev/null 2>&1
}
plays "as the first process" --network $net
check 'a container to be beside' docker run -d --name $tag-beside --network $net --entrypoint busybox \
    $tag-app sleep 600
plays 'beside another' --network "container:$tag-beside" --pid "container:$tag-beside"

# One that waits for a lock has no command to tell.
waits() { [ "$(docker inspect -f '{{.State.Running}}' $tag-waits)" = true ]; }
in_queue() { [ -n "$(docker exec $tag-m1 redis-cli keys 'job?*')" ]; }
check 'somebody has the lock' docker run -d --name $tag-app --network $net -e "REDLOCK_NODES=$nodes" \
    $tag-app run job -- work
check 'works with it' await is_working
check 'one waits for it' docker run -d --name $tag-waits --network $net -e "REDLOCK_NODES=$nodes" \
    "$image" lock --wait 60s job
check 'in the queue' await in_queue
check 'still' waits
check 'a signal ends it' docker stop -t 10 $tag-waits
check 'not by force' [ "$(docker inspect -f '{{.State.ExitCode}}' $tag-waits)" != 137 ]
tell
