#!/bin/sh
# peers.sh - other lock clients are fetched and built below build/gcc, by packages that are
# installed for it where they can be had. check.sh runs it beside its first stages.
. tools/quickstart/run.sh
. tools/quickstart/packages.sh
want_runtimes
exec make -C build/gcc interop-peers
