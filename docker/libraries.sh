# libraries.sh - what the images of this folder share. Sourced.

# Copy the libraries that programs are linked with, by the paths that ldd finds, the loader's
# too; a program without libraries has none.
copy_libraries() { # ROOT PROGRAM...
    to=$1
    shift
    for program; do ldd "$program" 2>/dev/null || true; done |
        sed -n 's/^[^/]*\(\/[^ ]*\) (0x.*/\1/p' | sort -u |
        while read -r library; do
            mkdir -p "$to${library%/*}"
            cp -L "$library" "$to$library"
        done
}
