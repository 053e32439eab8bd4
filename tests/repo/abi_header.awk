# abi_header.awk - redlock.h as another version would have it. -v version=older: each struct that
# can grow lacks its last member; newer: it has two numbers more.

function grows(name) {
    return name !~ /^redlock_(bytes|proof)$/
}

# A macro on one line: `{ sizeof(x), 1, 2 }` without the last one, or with one more.
function fit(macro) {
    match(macro, /sizeof\([a-z_]*/)
    if (!grows(substr(macro, RSTART + 7, RLENGTH - 7)))
        return macro
    if (version == "older")
        sub(/,[^,]*}$/, " }", macro)
    if (version == "newer")
        sub(/ *}$/, ", {0, 0} }", macro)
    return macro
}

/^#define REDLOCK_[A-Z_]*(INIT|ITEM)(\(.*\))? *\\$/ { macro = ""; in_macro = 1 }
in_macro {
    line = $0
    in_macro = sub(/ *\\$/, "", line)
    macro = macro line
    if (!in_macro)
        print fit(macro)
    next
}
/^typedef struct redlock_[a-z_]* \{$/ { name = $3; count = 0; in_struct = 1; print; next }
in_struct && /^} / {
    last = count
    while (last > 0 && member[last] !~ /^    [a-z].*;/)
        last--
    if (version == "older" && grows(name))
        count = last - 1
    for (i = 1; i <= count; i++)
        print member[i]
    if (version == "newer" && grows(name))
        print "    int64_t later[2];"
    in_struct = 0
    changed += grows(name)
    print
    next
}
in_struct { member[++count] = $0; next }
{ print }
END { if (changed < 8) { print "abi_header.awk: only " changed " structs" >"/dev/stderr"; exit 1 } }
