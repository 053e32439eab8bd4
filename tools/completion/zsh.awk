# zsh.awk - rows of options.awk as completion for zsh: for make.sh. -v program=NAME
function quoted(text) { # in what single quotes hold
    gsub(/'/, "'\\''", text)
    return text
}

function action() { # of the option's value
    if ($6 != "" && $5 ~ /WORDS|LIST/)
        return "_values -s , " $5 " " $6
    if ($6 != "")
        return "(" $6 ")"
    if ($5 == "DIR")
        return "_files -/"
    if ($5 == "CMD")
        return "_command_names -e"
    return $5 ~ /FILE|LIST|json/ ? "_files" : " "
}

function spec(    text, word, value) {
    text = $7
    gsub(/[][\\]/, "\\\\&", text)
    word = $5
    gsub(/[][=]/, "", word)
    value = $5 == "" ? "" : ($5 ~ /^\[/ ? "::" : ":") word ":" quoted(action())
    text = "'[" quoted(text) "]" value "'"
    if ($3 == "")
        return "'--" $4 ($5 ~ /^\[/ ? "=-" : $5 == "" ? "" : "=") "'" text
    return "'(-" $3 " --" $4 ")'{-" $3 ($5 == "" ? "" : "+") ",--" $4 ($5 == "" ? "" : "=") "}" text
}

$1 == "verb" {
    text = $3
    gsub(/:/, "\\:", text)
    verb[++count] = $2
    verbs = verbs "        '" $2 ":" quoted(text) "'\n"
}
$1 == "option" { specs[$2] = specs[$2] " \\\n            " spec() }
END {
    print "#compdef " program
    print "# Completion for zsh, made of what " program " --help prints. It asks no server.\n"
    if (!count) {
        print "_arguments -S" specs[""]
        exit
    }
    print "local curcontext=$curcontext state line at\ntypeset -A opt_args\nlocal -a verbs\nverbs=(\n" verbs ")"
    print "_arguments -C -S -A '-*'" specs[""] " \\\n            '1:verb:->verb' '*::word:->rest'"
    print "case $state in"
    print "verb) _describe verb verbs ;;"
    print "rest)"
    print "    at=${words[(i)--]}"
    print "    if ((at < CURRENT)); then # a command, and its arguments"
    print "        shift $at words"
    print "        ((CURRENT -= at))"
    print "        _normal\n        return\n    fi"
    print "    case $words[1] in"
    for (i = 1; i <= count; i++)
        print "    " verb[i] ")\n        _arguments -S" specs[verb[i]] " \\\n            '*: : ' ;;"
    print "    esac ;;\nesac"
}
