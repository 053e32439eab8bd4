# Turn the .lua files named on the command line into one header: a string literal a line, so
# that debuggers, strings(1) and diffs show Lua. Works in mawk, gawk and busybox awk.
function end_script() {
    if (open)
        print "    ;"
    open = 0
}
BEGIN {
    print "/* Generated from lib/scripts by embed.awk. */"
    print "#ifndef RL_SCRIPTS_H"
    print "#define RL_SCRIPTS_H"
}
FNR == 1 {
    end_script()
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\.lua$/, "", name)
    printf "\nstatic const char rl_script_%s[] =\n", name
    open = 1
}
{
    gsub(/\\/, "&&")
    gsub(/["?]/, "\\\\&")
    printf "    \"%s\\n\"\n", $0
}
END {
    end_script()
    print "\n#endif"
}
