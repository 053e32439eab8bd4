# options.awk - reads what --help prints, and prints rows of fields that tabs part: for make.sh.
#
#   verb VERB HELP
#   option VERB LETTER NAME ARGUMENT VALUES HELP     of each verb; without one: before the verb
#
# Before the help of a verb stands a line "@ VERB". A program that has verbs and one help says in
# its usage which options a verb has; those that are nowhere there are of all verbs.

function row(verb,    i) {
    for (i = 1; i <= options; i++)
        if (!(name[i] in of_verbs) || verb == "" || index(usage[verb], "--" name[i]))
            print "option", verb, letter[i], name[i], argument[i], values(i), short(help[i])
}

function short(text) { # its first sentence
    sub(/[.] .*/, "", text)
    return text
}

# Of "...: a, b (the default) or c. ..." the words a, b and c; of a LIST, its kinds.
function values(i,    text) {
    if (name[i] in kinds)
        return kinds[name[i]]
    if (argument[i] !~ /(WORDS?|HOW)/)
        return ""
    text = help[i]
    sub(/^[^:]*: /, "", text)
    sub(/[.] .*/, "", text)
    gsub(/ *\([^)]*\)/, "", text)
    gsub(/ or |, */, " ", text)
    return text
}

# "-n, --nodes LIST    the node list"
function option(text) {
    options++
    letter[options] = text ~ /^-[A-Za-z],/ ? substr(text, 2, 1) : ""
    sub(/^-[A-Za-z], /, "", text)
    match(text, /^--[a-z-]+/)
    name[options] = substr(text, 3, RLENGTH - 2)
    text = substr(text, RLENGTH + 1)
    argument[options] = ""
    if (match(text, /^( |\[=)[^ ]+/)) {
        argument[options] = substr(text, 1, RLENGTH)
        text = substr(text, RLENGTH + 1)
    }
    sub(/^ /, "", argument[options])
    sub(/^ */, "", text)
    help[options] = text
}

function flush(    i) {
    for (i = 1; i <= verbs && verb == ""; i++) {
        print "verb", called[i], called_help[i]
        if (help_is_one)
            row(called[i])
    }
    row(verb)
    options = 0
}

BEGIN { OFS = "\t"; verb = "" }
$1 == "@" { flush(); verb = $2; next }
/^(usage:|      ) *redlock-[a-z]+ [a-z]/ { # "usage: NAME up N [--tls] | down"
    sub(/^(usage:)? *redlock-[a-z]+ /, "")
    for (n = split($0, part, / [|] /); n > 0; n--) {
        split(part[n], word, " ")
        usage[word[1]] = part[n]
        help_is_one = 1
    }
    for (n = split($0, word, /[][ ]/); n > 0; n--)
        if (sub(/^--/, "", word[n]))
            of_verbs[word[n]]
    next
}
/^kinds of / { of = $3; next }
/^  [a-z]/ && of { kinds[of] = kinds[of] (kinds[of] == "" ? "" : " ") $1; next }
/^  [a-z]/ && !options && verb == "" { # "  up N    start N masters"
    called[++verbs] = $1
    n = split($0, part, /   */)
    called_help[verbs] = part[n]
    next
}
/^      --help, --version$|^  --help, --version$/ {
    option("--help  print this help")
    option("--version  print the version")
    next
}
/^ ( |     )(-[A-Za-z], )?--[a-z]/ { sub(/^ */, ""); option($0); next }
/^                 / && options { sub(/^ */, ""); help[options] = help[options] " " $0 }
END { flush() }
