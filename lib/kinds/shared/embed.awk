# Turn the .lua files named on the command line into one header: a string literal a line, so
# that debuggers, strings(1) and diffs show Lua. Where a line says "-- include FOLDER/NAME",
# FOLDER/NAME.lua beside that file's own folder is put in, which may include others. Other
# lines that are comments stay out of what masters are sent. After each script stands its SHA-1,
# by which EVALSHA names it.
# Most of a script's lines are in other scripts, too. So a script is a list of parts: the lines
# between two includes are a part, and equal parts are written once. A script that belongs to
# no lock is one text.
# A script that takes or keeps a lock is written a second time, for locks with fencing tokens:
# inside fence/fence_grant.lua or fence/fence_keep.lua, where that says "-- script". Readers
# have no such tokens.
# Behind marker/marker_strict.lua it is a third and a fourth script. Clients put the two texts
# together, so that only their SHA-1 is written here.
# Works in mawk, gawk and busybox awk.
function emit(line) {
    if (line ~ /^-- /)
        return
    text = text line "\n"
    part = part line "\n"
    gsub(/\\/, "&&", line)
    gsub(/["?]/, "\\\\&", line)
    lines = lines "    \"" line "\\n\"\n"
}
function end_part() {
    if (whole || part == "")
        return
    if (!(part in number)) {
        number[part] = ++parts
        printf "\nstatic const char rl_part_%d[] =\n%s    ;\n", parts, lines
    }
    list = list "rl_part_" number[part] ", "
    part = lines = ""
}
function include(path,    line) {
    end_part()
    while ((getline line < path) > 0) {
        if (line ~ /^-- include /)
            include(folder substr(line, 12) ".lua")
        else if (line == "-- script")
            include(script)
        else
            emit(line)
    }
    close(path)
    end_part()
}
# A here-document hands over the text as it is.
function sha1(text,    command, sum) {
    command = "sha1sum <<'END_OF_SCRIPT'\n" text "END_OF_SCRIPT\n"
    command | getline sum
    close(command)
    sub(/ .*/, "", sum)
    if (length(sum) != 40) {
        print "embed.awk: sha1sum (of coreutils or busybox) is missing" >"/dev/stderr"
        failed = 1
        exit 1
    }
    return sum
}
function begin_script(which) {
    name = which
    text = part = lines = list = ""
}
function read_guard(    line) {
    while ((getline line < (folder "marker/marker_strict.lua")) > 0) {
        if (line !~ /^-- /)
            guard = guard line "\n"
    }
}
function close_script() {
    end_part()
    if (whole)
        printf "\nstatic const char rl_script_%s[] =\n%s    ;\n", name, lines
    else
        printf "\nstatic const char *const rl_script_%s[] = {%sNULL};\n", name, list
    printf "static const char rl_sha_%s[] = \"%s\";\n", name, sha1(text)
    if (script !~ /_(acquire|wait|extend|retake)\.lua$/)
        return
    if (guard == "")
        read_guard()
    printf "static const char rl_sha_%s_strict[] = \"%s\";\n", name, sha1(guard text)
}
function end_script() {
    if (!open)
        return
    close_script()
    open = 0
    if (script !~ /read_/ && match(script, /_(acquire|wait|extend|retake)\.lua$/)) {
        begin_script(name "_fenced")
        include(folder "fence/fence_" (script ~ /_(acquire|wait)\.lua$/ ? "grant" : "keep") ".lua")
        close_script()
    }
}
BEGIN {
    print "/* Generated from lib/kinds by embed.awk. */"
    print "#ifndef RL_SCRIPTS_H"
    print "#define RL_SCRIPTS_H"
}
FNR == 1 {
    end_script()
    name = folder = script = FILENAME
    sub(/.*\//, "", name)
    sub(/\.lua$/, "", name)
    sub(/[^\/]*\/[^\/]*$/, "", folder)
    whole = script ~ /(fence|lists|marker)\/[^\/]*$/
    begin_script(name)
    open = 1
}
/^-- include / {
    include(folder $3 ".lua")
    next
}
{ emit($0) }
END {
    if (failed)
        exit 1
    end_script()
    print "\n#endif"
}
