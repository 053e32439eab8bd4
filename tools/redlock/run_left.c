/* run_left.c - what COMMAND started, and what runs on without the lock: daemons, mostly. */
#include "config_auto.h"

#include "redlock/run.h"

#include <stdio.h>
#include <string.h>

/* "1234 (redis-server)"; its number alone where it is gone by now. */
static struct cli_text shown(pid_t pid)
{
    char path[64], name[64] = "";
    struct cli_text text;
    snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
    FILE *file = fopen(path, "re");
    if (file && !fgets(name, sizeof(name), file))
        name[0] = '\0';
    if (file)
        fclose(file);
    struct cli_text escaped = cli_text(name, strcspn(name, "\n"));
    snprintf(text.text, sizeof(text.text), escaped.text[0] ? "%ld (%.64s)" : "%ld", (long)pid,
             escaped.text);
    return text;
}

void run_say_left(const struct run *run)
{
    char all[RUN_LEFT_SHOWN * 112] = "";
    size_t len = 0;
    if (run->left_count == 0)
        return;
    for (unsigned i = 0; i < run->left_count && i < RUN_LEFT_SHOWN; i++)
        len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", i > 0 ? ", " : "",
                                shown(run->left[i]).text);
    if (run->left_count > RUN_LEFT_SHOWN)
        snprintf(all + len, sizeof(all) - len, " and %u more", run->left_count - RUN_LEFT_SHOWN);
    cli_note(run->cli,
             "the command has ended, and what it started runs on without the lock: process %s. "
             "Start it in the foreground, or give --descendants to hold the lock until it ends",
             all);
}
