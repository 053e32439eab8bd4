# Turn the .lua files named on the command line into one header: a string literal a line, so
# that debuggers, strings(1) and diffs show Lua. Where a line says "-- include FOLDER/NAME",
# FOLDER/NAME.lua beside that file's own folder is put in, which may include others; other lines that are comments stay
# out of what masters are sent.
# Works in mawk, gawk and busybox awk.
function emit(line) {
    if (line ~ /^-- /)
        return
    gsub(/\\/, "&&", line)
    gsub(/["?]/, "\\\\&", line)
    printf "    \"%s\\n\"\n", line
}
function include(path,    line) {
    while ((getline line < path) > 0) {
        if (line ~ /^-- include /)
            include(folder substr(line, 12) ".lua")
        else
            emit(line)
    }
    close(path)
}
function end_script() {
    if (open)
        print "    ;"
    open = 0
}
BEGIN {
    print "/* Generated from lib/kinds by embed.awk. */"
    print "#ifndef RL_SCRIPTS_H"
    print "#define RL_SCRIPTS_H"
}
FNR == 1 {
    end_script()
    name = folder = FILENAME
    sub(/.*\//, "", name)
    sub(/\.lua$/, "", name)
    sub(/[^\/]*\/[^\/]*$/, "", folder)
    printf "\nstatic const char rl_script_%s[] =\n", name
    open = 1
}
/^-- include / {
    include(folder $3 ".lua")
    next
}
{ emit($0) }
END {
    end_script()
    print "\n#endif"
}
