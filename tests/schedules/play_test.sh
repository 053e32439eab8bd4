#!/bin/sh
# tags: long unsanitized
# play_test.sh - a short check-schedules: all times a quarter, and a fortieth of the periods.
# shellcheck disable=SC2154 # what make sets

command -v python3 >/dev/null || {
    echo 'there is no python3'
    exit 77
}
exec python3 -B "${srcdir:-.}/tests/schedules/suite.py" --redlock "$REDLOCK" --scale 0.25 --share 0.025
