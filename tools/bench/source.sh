#!/bin/sh
# source.sh - of what source is a build? Of a git checkout: its short commit, with + where files
# have changed since. Else the release. git looks in directories above too, so we look first:
# a tarball may have been unpacked inside of somebody's checkout.
#
# usage: source.sh SOURCE_DIR VERSION
set -eu

# Whoever owns it, as after sudo. Without locks: others may use it, and it may be read-only.
ask() { git --no-optional-locks -c safe.directory='*' -C "$@" 2>/dev/null; }

# A linked worktree has a file .git, not a directory.
if [ -e "$1/.git" ] && commit=$(ask "$1" rev-parse --short HEAD); then
    changed=$(ask "$1" status --porcelain --untracked-files=no)
    echo "$commit${changed:+"+"}"
else
    echo "release $2"
fi
