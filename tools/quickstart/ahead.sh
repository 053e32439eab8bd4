# ahead.sh BUILD... - compiles what later stages of quickstart's check need. check.sh runs it at a
# low priority, and ends it when a stage begins that goes on by itself. So its failures count
# nowhere: whoever wants the build meets them again.
#
# shellcheck disable=SC2034,SC2317 # what others use, and call
. tools/quickstart/run.sh
. tools/quickstart/build.sh
. tools/quickstart/check.sh
job_count=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
default_signals=''
mark=REDLOCK_QUICKSTART_AHEAD=$$ # of no stage
trap 'end_child; exit 1' HUP INT TERM

watch_child() { :; }
fail_stage() { exit 1; }
run_step() { # LOG COMMAND...
    step_log=build/logs/$1.log
    shift
    run_logged $build_limit_s "$step_log" "$@"
}

for build; do build_stage "$build"; done
