#!/bin/sh
# tagged.sh - the tests that have this tag in their first lines, as make calls them, in one line.
#
#   tests/tagged.sh TAG
#
#   long         they take longest, and learn nothing from being run again out of the tarball
#   early        it builds much, so it begins with the long ones
#   threads      threads meet in them: what ThreadSanitizer is run on
#   source       they read files of the source tree, so they are run out of the tarball, too
#   valgrind     they are run under valgrind too
#   unsanitized  a sanitizer has little of the library to look at in them, or changes what they
#                look at: stacks, and the deadlines of the program as it ships
cd "$(dirname "$0")/.." || exit 1
awk -v tag="$1" '
    FNR > 2 { nextfile }
    / tags: / {
        for (i = 3; i <= NF; i++) {
            if ($i != tag) continue
            test = FILENAME; sub(/\.c$/, "", test)
            printf "%s ", test
        }
    }' tests/*/*.sh tests/*/test_*.c tests/*/*/test_*.c tests/fuzz/fuzz_*.c
