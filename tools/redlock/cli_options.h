/* cli_options.h - the tables of verbs and options, from which getopt_long(3), the checks and
 * every --help are made. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "redlock/cli.h"

#define CLI_VERBS_ALL                                                                          \
    (CLI_RUN | CLI_LOCK | CLI_EXTEND | CLI_RELEASE | CLI_INSPECT | CLI_STATUS | CLI_BREAK |    \
     CLI_INIT)

struct cli_verb_row {
    enum cli_verb verb;
    const char *name;
    const char *operands;
    const char *help;
};

struct cli_option_row {
    int letter; /* what getopt_long() returns; printed where it is a letter */
    const char *name;
    const char *argument; /* NULL: takes none */
    unsigned verbs;
    const char *help;
};

enum {
    CLI_OPT_TTL = 256,
    CLI_OPT_WAIT,
    CLI_OPT_TRY,
    CLI_OPT_GRACE,
    CLI_OPT_JSON,
    CLI_OPT_WATCH,
    CLI_OPT_PROMETHEUS,
    CLI_OPT_ACL,
    CLI_OPT_SHARED,
    CLI_OPT_EXCLUSIVE,
    CLI_OPT_FAIR,
    CLI_OPT_REENTRANT,
    CLI_OPT_OWNER,
    CLI_OPT_FENCED,
    CLI_OPT_YES,
    CLI_OPT_EVEN_WITHOUT_TTL,
    CLI_OPT_PREFIX,
    CLI_OPT_KINDS,
    CLI_OPT_REPLACE,
    CLI_OPT_TOKENS_ABOVE,
    CLI_OPT_ALLOW_UNKNOWN,
    CLI_OPT_DESCENDANTS,
    CLI_OPT_PROBE,
    CLI_OPT_AT_LEAST
};

#define CLI_VERB_COUNT 8
#define CLI_OPTION_COUNT 30
extern const struct cli_verb_row cli_verbs[CLI_VERB_COUNT];
extern const struct cli_option_row cli_options[CLI_OPTION_COUNT];

/* The words of the command line, before they are checked. */
struct cli_words {
    const struct cli_verb_row *verb;
    const char *operand[REDLOCK_NAMES_MAX];
    unsigned operands;
    const char *kind; /* the option that named it; NULL: none did */
    char **rest;      /* after `--`; NULL: there was none */
    unsigned seen;    /* a bit for each row of options */
    bool help;
    bool version;
};

/* cli_values.c: set what the option says. -1, or the status to leave with. `value` is NULL
 * where the option takes none. */
int cli_option_set(struct cli *cli, struct cli_words *words, int letter, const char *value);

/* cli_check.c: -1, or the status to leave with. `option` named the kind; NULL: none did. The
 * names are taken over into `cli`. */
int cli_check_kind(const struct cli *cli, const char *option, unsigned names);
int cli_check_form(const struct cli *cli);
int cli_check_names(struct cli *cli, const char *const names[], unsigned count);

/* To stdout: of one verb, or of all (NULL). The status to leave with. */
int cli_print_help(const struct cli *cli, const struct cli_verb_row *verb);

#endif
