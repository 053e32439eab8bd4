/* cli_help.c - the tables of verbs and options, and the help made of them. */
#include "config_auto.h"

#include "redlock/cli_options.h"

const struct cli_verb_row cli_verbs[CLI_VERB_COUNT] = {
    {CLI_RUN, "run", "NAME ... -- COMMAND [ARG ...]",
     "run COMMAND while the lock NAME is held, or all of them"},
    {CLI_LOCK, "lock", "NAME ...", "take the lock NAME and print a handle that stands for it"},
    {CLI_EXTEND, "extend", "HANDLE|-", "make the lease last longer; prints the new handle"},
    {CLI_RELEASE, "release", "HANDLE|-", "give the lock up"},
    {CLI_INSPECT, "inspect", "NAME", "who holds NAME on each master, and who waits"},
    {CLI_STATUS, "status", "", "can a lock be had? Proven at each master"},
    {CLI_BREAK, "break", "NAME", "delete the lock NAME, whoever holds it; asks first"},
    {CLI_INIT, "init", "", "say that masters are new (guard marker): they vote at once"},
};

const struct cli_option_row cli_options[CLI_OPTION_COUNT] = {
    {'n', "nodes", "LIST", CLI_VERBS_ALL, "the node list: a file, or URLs"},
    {CLI_OPT_TTL, "ttl", "D", CLI_RUN | CLI_LOCK | CLI_EXTEND, "how long a lease lasts"},
    {CLI_OPT_WAIT, "wait", "D", CLI_RUN | CLI_LOCK | CLI_STATUS,
     "wait so long for the lock: 10s, 0, forever; status: until all masters vote again"},
    {CLI_OPT_AT_LEAST, "at-least", "D", CLI_RUN | CLI_LOCK,
     "keep others out so long, also if it ends sooner; above a lease run must live on"},
    {CLI_OPT_TRY, "try", NULL, CLI_RUN | CLI_LOCK, "the same as --wait 0"},
    {CLI_OPT_SHARED, "shared", NULL, CLI_RUN | CLI_LOCK, "with other readers, but no writer"},
    {CLI_OPT_EXCLUSIVE, "exclusive", NULL, CLI_RUN | CLI_LOCK, "as the writer, alone"},
    {CLI_OPT_REENTRANT, "reentrant", NULL, CLI_RUN | CLI_LOCK, "its owner may take it again"},
    {CLI_OPT_FAIR, "fair", NULL, CLI_RUN | CLI_LOCK,
     "the same, in the order they came (one master)"},
    {CLI_OPT_OWNER, "owner", "TEXT", CLI_RUN | CLI_LOCK | CLI_INSPECT,
     "who has it, of these four kinds (this process); inspect: who is shown first"},
    {CLI_OPT_FENCED, "fenced", NULL, CLI_RUN | CLI_LOCK,
     "with a fencing token (run: $REDLOCK_FENCING_TOKEN; lock: --json)"},
    {CLI_OPT_GRACE, "grace", "D", CLI_RUN, "TERM comes so long before the lease is over"},
    {CLI_OPT_DESCENDANTS, "descendants", NULL, CLI_RUN,
     "hold until all that the command started has ended, daemons too"},
    {'E', "conflict-exit-code", "N", CLI_RUN | CLI_LOCK | CLI_INSPECT,
     "exit status where another holds it"},
    {CLI_OPT_JSON, "json", NULL, CLI_VERBS_ALL, "print a JSON object (run: on stderr)"},
    {CLI_OPT_PREFIX, "prefix", "TEXT", CLI_STATUS,
     "the probe's name begins so (redlock:probe:)"},
    {CLI_OPT_KINDS, "kinds", "WORDS", CLI_STATUS,
     "these are used: plain,reentrant,fair,read-write,fenced,inspect,status,init or all"},
    {CLI_OPT_PROBE, "probe", NULL, CLI_STATUS,
     "0 where locks can be had, DEGRADED too; asks nothing else"},
    {CLI_OPT_WATCH, "watch", NULL, CLI_STATUS, "look again every second"},
    {CLI_OPT_PROMETHEUS, "prometheus", NULL, CLI_STATUS,
     "print metrics, for a textfile collector"},
    {CLI_OPT_ACL, "acl", NULL, CLI_STATUS,
     "print the rights that a user needs, for plain locks or for --kinds"},
    {CLI_OPT_ALLOW_UNKNOWN, "allow-unknown", NULL, CLI_STATUS,
     "--wait: end well though masters don't show which lists clients have"},
    {CLI_OPT_REPLACE, "replace", "N", CLI_INIT,
     "master N alone, which has taken another's place"},
    {CLI_OPT_TOKENS_ABOVE, "tokens-above", "N", CLI_INIT,
     "fencing strict: certify masters that lost tokens up to N"},
    {CLI_OPT_YES, "yes", NULL, CLI_BREAK | CLI_INIT, "don't ask"},
    {CLI_OPT_EVEN_WITHOUT_TTL, "even-without-ttl", NULL, CLI_BREAK,
     "also what has no TTL, as a lock set by hand"},
    {'q', "quiet", NULL, CLI_VERBS_ALL, "print nothing on stderr"},
    {'v', "verbose", NULL, CLI_VERBS_ALL, "say on stderr what each master said"},
    {'h', "help", NULL, CLI_VERBS_ALL, "print this help"},
    {'V', "version", NULL, CLI_VERBS_ALL, "print the version"},
};

const char *cli_verb_word(enum cli_verb verb)
{
    for (size_t i = 0; i < CLI_VERB_COUNT; i++) {
        if (cli_verbs[i].verb == verb)
            return cli_verbs[i].name;
    }
    return "";
}

static void print_options(unsigned verb_mask)
{
    for (size_t i = 0; i < CLI_OPTION_COUNT; i++) {
        const struct cli_option_row *row = &cli_options[i];
        if (!(row->verbs & verb_mask))
            continue;
        char left[40];
        snprintf(left, sizeof(left), "--%s%s%s", row->name, row->argument ? " " : "",
                 row->argument ? row->argument : "");
        printf("  %c%c%c %-26s %s\n", row->letter < 256 ? '-' : ' ',
               row->letter < 256 ? row->letter : ' ', row->letter < 256 ? ',' : ' ', left,
               row->help);
    }
}

int cli_print_help(const struct cli *cli, const struct cli_verb_row *verb)
{
    if (verb) {
        printf("usage: redlock %s [OPTION ...]%s%s\n\n%s\n\n", verb->name,
               *verb->operands ? " " : "", verb->operands, verb->help);
        print_options(verb->verb);
    } else {
        printf("usage: redlock VERB [OPTION ...] ...\n\nLocks on a majority of Redis masters."
               "\n\n");
        for (size_t i = 0; i < CLI_VERB_COUNT; i++)
            printf("  %-8s %-30s %s\n", cli_verbs[i].name, cli_verbs[i].operands,
                   cli_verbs[i].help);
        printf("\n");
        print_options(CLI_VERBS_ALL);
    }
    printf("\nA duration D is written 500ms, 10s, 2m, 1h. The node list is LIST, else\n"
           "$REDLOCK_NODES, else ./redlock.conf, else /etc/redlock.conf: a file, or URLs in words,\n"
           "as in 'redis://a redis://b max-ttl=10s'. See redlock(1).\n");
    return cli_flush(cli);
}
