# fish.awk - rows of options.awk as completion for fish: for make.sh. -v program=NAME
function quoted(text) {
    gsub(/[\\']/, "\\\\&", text)
    return "'" text "'"
}

function value() { # of an option
    if ($5 ~ /^\[/)
        return $6 == "" ? "" : " -a " quoted($6)
    if ($6 != "" && $5 ~ /WORDS|LIST/)
        return " -x -a " quoted("(__fish_append , " $6 ")")
    if ($6 != "")
        return " -x -a " quoted($6)
    if ($5 == "DIR")
        return " -x -a '(__fish_complete_directories)'"
    if ($5 == "CMD")
        return " -x -a '(__fish_complete_command)'"
    return $5 ~ /FILE|LIST|json/ ? " -r -F" : " -x"
}

BEGIN { f = program; gsub(/-/, "_", f) }
$1 == "verb" {
    verbs = verbs " " $2
    lines = lines "complete -c " program " -n '__" f "_verb_is none' -a " $2 " -d " quoted($3) "\n"
}
$1 == "option" {
    lines = lines "complete -c " program \
        (verbs == "" ? "" : " -n '__" f "_verb_is " ($2 == "" ? "none" : $2) "'") \
        ($3 == "" ? "" : " -s " $3) " -l " $4 ($5 == "" ? "" : value()) " -d " quoted($7) "\n"
}
END {
    print "# Completion for fish, made of what " program " --help prints. It asks no server.\n"
    if (verbs != "") {
        print "function __" f "_verb_is # VERB, or none"
        print "    set -l words (commandline -opc)"
        print "    contains -- -- $words; and return 1"
        print "    for word in $words[2..-1]"
        print "        if contains -- $word" verbs
        print "            test $word = $argv[1]\n            return\n        end\n    end"
        print "    test $argv[1] = none\nend\n"
        print "function __" f "_command # behind a `--`"
        print "    set -l words (commandline -opc)"
        print "    set -l at (contains -i -- -- $words); or return"
        print "    set -l rest (string escape -- $words[$at..-1])"
        print "    complete -C (string join ' ' -- $rest[2..-1] (commandline -ct))\nend\n"
        print "complete -c " program " -n 'contains -- -- (commandline -opc)' -a '(__" f "_command)'"
    }
    print "complete -c " program " -f"
    printf "%s", lines
}
