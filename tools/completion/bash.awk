# bash.awk - rows of options.awk as completion for bash: for make.sh. -v program=NAME
$1 == "verb" { verbs = verbs " " $2; verb[++count] = $2 }
$1 == "option" {
    words[$2] = words[$2] " --" $4 ($3 == "" ? "" : " -" $3)
    if ($5 == "" || seen[$4]++)
        next
    pattern = "--" $4 ($3 == "" ? "" : "|-" $3)
    if ($5 !~ /^\[/)
        valued = valued (valued == "" ? "" : "|") pattern
    if ($6 != "" && $5 ~ /WORDS|LIST/)
        what = "list " $6
    else if ($6 != "")
        what = "words " $6
    else if ($5 ~ /FILE|LIST|json/)
        what = "files -f"
    else if ($5 == "DIR")
        what = "files -d"
    else if ($5 == "CMD")
        what = "words_of -c"
    else
        next
    cases = cases "    " pattern ") _" f "_" what " ;;\n"
}
BEGIN { f = program; gsub(/-/, "_", f) }
END {
    print "# " program ".bash - completion for bash, made of what " program " --help prints."
    print "# It asks no server.\n"
    print "_" f "_words_of() { # HOW: as compgen has it"
    print "    mapfile -t COMPREPLY < <(compgen \"$@\" -- \"$cur\")\n}\n"
    print "_" f "_words() { _" f "_words_of -W \"$*\"; }\n"
    print "_" f "_list() { # WORD...: the last of those that commas part"
    print "    local before="
    print "    [[ $cur != *,* ]] || before=${cur%,*},"
    print "    cur=${cur##*,} _" f "_words_of -P \"$before\" -W \"$*\""
    print "    compopt -o nospace 2>/dev/null\n}\n"
    print "_" f "_files() { # -f or -d"
    print "    _" f "_words_of \"$1\""
    print "    compopt -o filenames 2>/dev/null\n}\n"
    print "# What follows an option that takes a value."
    print "_" f "_value() { # OPTION"
    print "    case $1 in\n" cases "    esac\n}\n"
    print "_" f "_options() { # VERB"
    print "    case $1 in"
    for (i = 1; i <= count; i++)
        print "    " verb[i] ") _" f "_words" words[verb[i]] " ;;"
    print "    *) _" f "_words" words[""] " ;;\n    esac\n}\n"
    print "_" f "()\n{"
    print "    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb= word i"
    print "    COMPREPLY=()"
    print "    for ((i = 1; i < COMP_CWORD; i++)); do"
    print "        word=${COMP_WORDS[i]}"
    print "        case $word in"
    print "        --) # a command, and its arguments"
    print "            if ((i + 1 == COMP_CWORD)); then _" f "_words_of -c; else _" f "_files -f; fi"
    print "            return ;;"
    print "        " valued ") [[ ${COMP_WORDS[i + 1]} = '=' ]] && ((i += 2)) || ((i++)) ;;"
    print "        -* | =) ;;"
    print "        *) verb=${verb:-$word} ;;"
    print "        esac"
    print "    done"
    print "    if [[ $cur = '=' ]]; then # --option="
    print "        cur= _" f "_value \"$before\""
    print "    elif [[ $before = '=' ]]; then"
    print "        _" f "_value \"${COMP_WORDS[COMP_CWORD - 2]}\""
    print "    elif [[ $cur = -* ]]; then"
    print "        _" f "_options \"$verb\""
    print "    else"
    print "        case $before in"
    print "        " valued ") _" f "_value \"$before\" ;;"
    print "        *) [[ -n $verb ]] || _" f (count ? "_words" verbs : "_options") " ;;"
    print "        esac\n    fi\n}"
    print "complete -F _" f " " program
}
