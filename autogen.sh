#!/bin/sh
for program in autoreconf libtoolize pkg-config; do # the last one has a macro that configure needs
    command -v $program >/dev/null || {
        echo "autogen.sh: there is no $program; Debian has autoconf, automake, libtool, pkg-config" >&2
        exit 69
    }
done
cd "$(dirname "$0")" && exec autoreconf -fi
