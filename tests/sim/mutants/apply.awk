# apply.awk - what mutants.sh needs of a table of mutants (see mutants.sh for its form).
#
#   awk -f apply.awk -v mode=list TABLE...                          the names, one a line
#   awk -f apply.awk -v mode=show -v name=NAME TABLE...             "file ..." and "by ..." lines
#   awk -f apply.awk -v mode=change -v name=NAME -v file=FILE -v source=PATH TABLE...
#                                  the text of PATH, which is FILE, with NAME's changes in it
#
# Each old text must be in its file exactly once; else the table is stale: exit status 3.

function fail(text) {
    printf "%s: %s\n", name, text > "/dev/stderr"
    failed = 1
    exit 3
}
function read_source(    line, text) {
    while ((getline line < source) > 0)
        text = text line "\n"
    close(source)
    return text
}
function end_hunk() {
    if (old != "" && mode == "change" && at == name && of == file) {
        hunks++
        olds[hunks] = old
        news[hunks] = new
    }
    old = new = ""
}
FNR == 1 {
    end_hunk()
    at = of = ""
}
/^mutant / {
    end_hunk()
    at = $2
    of = ""
    if (seen[at]++) {
        name = at
        fail("there are two of that name")
    }
    if (mode == "list")
        print at
    next
}
/^file / {
    end_hunk()
    of = $2
    if (mode == "show" && at == name)
        print
    next
}
/^by / {
    if (mode == "show" && at == name)
        print
    next
}
/^-/ {
    if (new != "")
        end_hunk()
    old = old substr($0, 2) "\n"
    next
}
/^\+/ {
    new = new substr($0, 2) "\n"
    next
}
{ end_hunk() }
END {
    if (failed)
        exit 3
    end_hunk()
    if (mode != "change")
        exit 0
    if (hunks == 0)
        fail("has no change to " file)
    text = "\n" read_source()
    for (i = 1; i <= hunks; i++) {
        where = index(text, "\n" olds[i])
        if (where == 0)
            fail("the table is stale: not in " file ": " olds[i])
        rest = substr(text, where + length(olds[i]))
        if (index(rest, "\n" olds[i]))
            fail("the table is stale: more than once in " file ": " olds[i])
        text = substr(text, 1, where) news[i] substr(rest, 2)
    }
    printf "%s", substr(text, 2)
}
