#!/bin/sh
# completion_test.sh - the shells that are installed offer every option that --help has, and no
# other; values, commands and files where they belong; and ask nobody for it.

# shellcheck disable=SC1091,SC2154 # shell_rig.sh sets them
. "${srcdir:-.}/tests/support/shell_rig.sh"
srcdir=$(cd "${srcdir:-.}" && pwd) || exit 99
builddir=$(cd "${builddir:-.}" && pwd) || exit 99
REDLOCK_COMPLETION=$builddir/completion
export REDLOCK_COMPLETION
[ -e "$REDLOCK_COMPLETION/made" ] || {
    echo 'this build has no completion'
    exit 77
}
make_work redlock-completion
mkdir "$work/bin" "$work/here" "$work/here/folder" "$work/help" "$work/home"
: >"$work/here/file.conf"
# Whoever calls one of these is seen.
for program in redlock redlock-cluster redlock-bench redlock-chaos redlock-some-command; do
    # shellcheck disable=SC2016
    printf '#!/bin/sh\necho "$0" >>"%s/asked"\n' "$work" >"$work/bin/$program"
    chmod +x "$work/bin/$program"
done

# ---- what is expected: "LINE|WORD WORD ...", of the help and by hand ----

help_of() { # PROGRAM [VERB]
    "$builddir/bin/$1" ${2:+"$2"} --help
}
long_options() { # of a help: where a line begins with one
    grep -oE '^ {2,6}(-[A-Za-z], )?--[a-z-]+(, --version)?' | grep -oE -e '--[a-z-]+'
}
expect_options() { # LINE PROGRAM [VERB]
    line=$1
    shift
    echo "$line --|$(help_of "$@" | long_options | tr '\n' ' ')"
}
verbs_of() { help_of "$1" | awk '/^  [a-z]/ { print $1 } /^ +-/ { exit }'; } # PROGRAM
{
    expect_options redlock redlock
    for verb in $(verbs_of redlock); do expect_options "redlock $verb" redlock "$verb"; done
    for program in redlock-cluster redlock-bench redlock-chaos; do expect_options $program $program; done
    for program in redlock redlock-cluster; do
        # shellcheck disable=SC2046 # words are wanted
        echo "$program |"$(verbs_of $program)
    done
    cat <<'END'
redlock-cluster up 5 --|--sentinel --tls --password --max-ttl --guard --dir --help --version
redlock-cluster restart 5 --|--empty --dir --help --version
redlock --nodes x lo|lock
redlock -n fi|file.conf
redlock run --nodes=fi|file.conf
redlock status --kinds plain,re|reentrant read-write
redlock status --kinds=in|inspect init
redlock inspect |
redlock run --ttl |
redlock run NAME -- redlock-some|redlock-some-command
redlock run NAME -- redlock-some-command fi|file.conf
redlock-cluster up 5 --guard |on off marker strict
redlock-cluster ls --dir fo|folder
redlock-bench --scenario pair,f|fanout fair
redlock-bench --svg fi|file.conf
redlock-chaos --self-test=|one-master no-release no-rollback no-fence
redlock-chaos --faults kill,hal|halves half-open
redlock-chaos --guard |on marker strict
redlock-chaos --client redlock-some|redlock-some-command
END
} >"$work/expected"
check 'the help has options' [ "$(grep -o -e ' --' "$work/expected" | wc -l)" -gt 150 ]
cut -d '|' -f 1 "$work/expected" >"$work/queries"

# ---- what shells answer: "== LINE", and a word a line ----

cat >"$work/bash.sh" <<'END'
while IFS= read -r line; do
    echo "== $line"
    program=${line%% *}
    . "$REDLOCK_COMPLETION/bash/$program"
    # As readline parts it: a `=` is a word.
    read -r -a COMP_WORDS <<<"${line//=/ = }"
    [[ $line != *' ' ]] || COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    called=$(complete -p "$program")
    called=${called#*-F }
    "${called%% *}" "$program" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    ((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
done
END
cat >"$work/fish.fish" <<'END'
for program in redlock redlock-cluster redlock-bench redlock-chaos
    source $REDLOCK_COMPLETION/fish/$program.fish
end
while read -l line
    echo "== $line"
    complete -C $line
end
END
ask() { # SHELL
    (
        cd "$work/here" && unset REDLOCK_NODES && HOME=$work/home PATH=$work/bin:$PATH && export HOME
        case $1 in
        bash) bash "$work/bash.sh" <"$work/queries" >"$work/bash" ;;
        zsh) zsh -f "$srcdir/tests/programs/completion.zsh" "$work" ;;
        fish) fish --no-config "$work/fish.fish" <"$work/queries" >"$work/fish" ;;
        esac
    ) >"$work/out" 2>&1
}

# Words alone: no descriptions, no --option= or first words of a list before them, no slash behind.
# Single letters are not looked for: shells differ in when they offer them.
answers() { # SHELL
    awk -F '\t' '
        /^== / { if (line != "") print line "|" words; line = substr($0, 4); words = ""; next }
        { word = $1; gsub(/^.*[,=]|[ \/]*$/, "", word) }
        word != "" && word !~ /^-[A-Za-z]$/ { words = words word " " }
        END { print line "|" words }' "$work/$1"
}
sorted() { # of the words behind each line; each once
    while IFS='|' read -r line words; do
        # shellcheck disable=SC2086 # words are wanted
        echo "$line|$(printf '%s\n' $words | sort -u | tr '\n' ' ')"
    done
}
sorted <"$work/expected" >"$work/expected.sorted"
for shell in bash zsh fish; do
    command -v $shell >/dev/null || {
        echo "skipped: there is no $shell"
        continue
    }
    check "$shell answers" ask $shell
    answers $shell | sorted >"$work/$shell.sorted"
    check "$shell offers what the help has" diff "$work/expected.sorted" "$work/$shell.sorted"
done
check 'no program was asked' [ ! -e "$work/asked" ]

# ---- typed in a terminal ----

typed() { # PROGRAM KEYS WHAT IS CALLED BY IT
    # shellcheck disable=SC2016
    printf '. "$REDLOCK_COMPLETION/bash/%s"; PS1=; %s() { echo "called <$*>"; }\n' "$1" "$1" >"$work/rc"
    printf '%s\n%s\n' "$2" exit >"$work/keys"
    script -qec "bash --noprofile --rcfile '$work/rc' -i" /dev/null <"$work/keys" >"$work/out" 2>&1
    grep -qF "called <$3>" "$work/out"
}
tab=$(printf '\t')
if command -v script >/dev/null && command -v bash >/dev/null; then
    check 'bash completes a verb, an option and a value' typed redlock \
        "redlock sta${tab}--ki${tab}plain,ree${tab}" 'status --kinds plain,reentrant'
    check 'bash completes what is behind a =' typed redlock-chaos \
        "redlock-chaos --self-test=no-f${tab}" '--self-test=no-fence'
fi
tell
