# make.sh BIN DIRECTORY - completion for shells, of the programs in BIN, made of what --help prints:
# DIRECTORY/bash/NAME, DIRECTORY/zsh/_NAME, DIRECTORY/fish/NAME.fish.
# shellcheck shell=sh
set -e
bin=$1 to=$2
here=$(dirname "$0")
mkdir -p "$to/bash" "$to/zsh" "$to/fish"

helps() { # PROGRAM
    "$bin/$1" --help
    [ "$1" = redlock ] || return 0
    "$bin/$1" --help | awk '/^  [a-z]/ { print $1 }' | while read -r verb; do
        echo "@ $verb"
        "$bin/$1" "$verb" --help
    done
}

for program in redlock redlock-cluster redlock-bench redlock-chaos; do
    helps $program >"$to/helps"
    awk -f "$here/options.awk" "$to/helps" >"$to/options"
    for file in bash/$program zsh/_$program fish/$program.fish; do
        awk -F '\t' -v program=$program -f "$here/${file%%/*}.awk" "$to/options" >"$to/$file"
    done
done
rm "$to/helps" "$to/options"
