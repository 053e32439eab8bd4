/* cli_values.c - what each option sets, and how its value is read. */
#include "config_auto.h"

#include "redlock/cli_options.h"
#include "redlock/rights.h"
#include "base/duration.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t row_of(int letter)
{
    size_t row = 0;
    while (row < CLI_OPTION_COUNT && cli_options[row].letter != letter)
        row++;
    assert(row < CLI_OPTION_COUNT);
    return row;
}

static int duration_set(const struct cli *cli, const char *option, const char *text,
                        int64_t *ret_ms)
{
    const char *wrong = rl_duration_parse(text, strlen(text), ret_ms);
    if (!wrong)
        return -1;
    cli_say(cli, "--%s '%s': %s", option, cli_text(text, strlen(text)).text, wrong);
    return CLI_USAGE;
}

static int ttl_set(struct cli *cli, const char *text)
{
    int status = duration_set(cli, "ttl", text, &cli->ttl_ms);
    if (status < 0 && cli->ttl_ms == 0) {
        cli_say(cli, "--ttl 0: a lease must last some time, e.g. --ttl 10s");
        return CLI_USAGE;
    }
    return status;
}

static int wait_set(struct cli *cli, const char *text)
{
    if (strcmp(text, "forever") == 0) {
        cli->wait_ms = -1;
        return -1;
    }
    return duration_set(cli, "wait", text, &cli->wait_ms);
}

/* --wait and --try say the same thing, and the last one would win unseen. */
static int patience_set(struct cli *cli, const struct cli_words *words, int letter,
                        const char *text)
{
    int other = letter == CLI_OPT_TRY ? CLI_OPT_WAIT : CLI_OPT_TRY;
    if (words->seen & (1U << row_of(other))) {
        cli_say(cli, "--try is --wait 0: give --wait or --try, and not both");
        return CLI_USAGE;
    }
    if (letter == CLI_OPT_WAIT)
        return wait_set(cli, text);
    cli->wait_ms = 0;
    return -1;
}

static int conflict_set(struct cli *cli, const char *text)
{
    char *end = NULL;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (errno || end == text || *end || number < 0 || number > 255) {
        cli_say(cli, "-E '%s': an exit status is a number from 0 to 255",
                cli_text(text, strlen(text)).text);
        return CLI_USAGE;
    }
    cli->not_acquired = (int)number;
    return -1;
}

static int replace_set(struct cli *cli, const char *text)
{
    int64_t number = rl_decimal(text, strlen(text));
    if (number < 1 || number > REDLOCK_NODES_MAX) {
        cli_say(cli, "--replace '%s': masters are counted from 1, as in the node list",
                cli_text(text, strlen(text)).text);
        return CLI_USAGE;
    }
    cli->replace = (unsigned)number;
    return -1;
}

static int tokens_above_set(struct cli *cli, const char *text)
{
    int64_t number = rl_decimal(text, strlen(text));
    if (number < 1 || number >= INT64_C(1) << 52) {
        cli_say(cli,
                "--tokens-above '%s': the greatest token that a store has seen, a number "
                "from 1 to 2^52 - 1",
                cli_text(text, strlen(text)).text);
        return CLI_USAGE;
    }
    cli->tokens_above = number;
    return -1;
}

/* Handle an option that sets the kind of the lock. */
static int kind_set(struct cli *cli, struct cli_words *words, int letter)
{
    assert(letter == CLI_OPT_SHARED || letter == CLI_OPT_EXCLUSIVE || letter == CLI_OPT_FAIR ||
           letter == CLI_OPT_REENTRANT);
    int kind = letter == CLI_OPT_SHARED      ? REDLOCK_READ
               : letter == CLI_OPT_EXCLUSIVE ? REDLOCK_WRITE
               : letter == CLI_OPT_FAIR      ? REDLOCK_FAIR
                                             : REDLOCK_REENTRANT;
    const char *name = cli_options[row_of(letter)].name;
    if (words->kind && kind != cli->kind) {
        cli_say(cli, "--%s and --%s are two kinds of lock: choose one", words->kind, name);
        return CLI_USAGE;
    }
    words->kind = name;
    cli->kind = kind;
    return -1;
}

static int uses_set(struct cli *cli, const char *text)
{
    cli->uses = rights_parse(text);
    if (cli->uses)
        return -1;
    cli_say(cli, "--kinds '%s': name " RIGHTS_WORDS, cli_text(text, strlen(text)).text);
    return CLI_USAGE;
}

/* What an option without a value sets; NULL: it does more than that. */
static bool *flag_of(struct cli *cli, struct cli_words *words, int letter)
{
    switch (letter) {
    case CLI_OPT_JSON:
        return &cli->json;
    case CLI_OPT_WATCH:
        return &cli->watch;
    case CLI_OPT_ACL:
        return &cli->acl;
    case CLI_OPT_PROBE:
        return &cli->probe;
    case CLI_OPT_ALLOW_UNKNOWN:
        return &cli->allow_unknown;
    case CLI_OPT_PROMETHEUS:
        return &cli->prometheus;
    case CLI_OPT_FENCED:
        return &cli->fenced;
    case CLI_OPT_DESCENDANTS:
        return &cli->descendants;
    case CLI_OPT_YES:
        return &cli->yes;
    case CLI_OPT_EVEN_WITHOUT_TTL:
        return &cli->even_without_ttl;
    case 'q':
        return &cli->quiet;
    case 'v':
        return &cli->verbose;
    case 'h':
        return &words->help;
    case 'V':
        return &words->version;
    default:
        return NULL;
    }
}

int cli_option_set(struct cli *cli, struct cli_words *words, int letter, const char *value)
{
    bool *flag = flag_of(cli, words, letter);
    words->seen |= 1U << row_of(letter);
    if (flag) {
        *flag = true;
        return -1;
    }
    switch (letter) {
    case 'n':
        cli->nodes_file = value;
        return -1;
    case CLI_OPT_TTL:
        return ttl_set(cli, value);
    case CLI_OPT_WAIT:
    case CLI_OPT_TRY:
        return patience_set(cli, words, letter, value);
    case CLI_OPT_AT_LEAST:
        return duration_set(cli, "at-least", value, &cli->at_least_ms);
    case CLI_OPT_GRACE:
        return duration_set(cli, "grace", value, &cli->grace_ms);
    case 'E':
        return conflict_set(cli, value);
    case CLI_OPT_OWNER:
        cli->owner = value;
        return -1;
    case CLI_OPT_REPLACE:
        return replace_set(cli, value);
    case CLI_OPT_TOKENS_ABOVE:
        return tokens_above_set(cli, value);
    case CLI_OPT_KINDS:
        return uses_set(cli, value);
    case CLI_OPT_PREFIX:
        cli->prefix = value;
        return -1;
    default:
        return kind_set(cli, words, letter);
    }
}
