/* cli_options.c - the command line, read with the tables of cli_options.h.
 *
 * Options may stand before the verb and on both sides of the operand; `--` ends them, and
 * `run` wants it between names and the command, so that a forgotten NAME is an error and
 * never the command's first word taken for one. */
#include "config_auto.h"

#include "redlock/cli_options.h"
#include "base/suggest.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_verb_row *verb_find(const char *name)
{
    for (size_t i = 0; i < CLI_VERB_COUNT; i++) {
        if (strcmp(cli_verbs[i].name, name) == 0)
            return &cli_verbs[i];
    }
    return NULL;
}

static int print_version(const struct cli *cli)
{
    printf("redlock %s\n", redlock_version());
    return cli_flush(cli);
}

static int unknown_option(const struct cli *cli, const struct cli_words *words, int letter,
                          const char *word)
{
    struct cli_text shown = cli_text(word, strlen(word));
    if (letter == ':')
        cli_say(cli, "%s needs a value; see redlock %s%s--help", shown.text,
                words->verb ? words->verb->name : "", words->verb ? " " : "");
    else
        cli_say(cli, "%s is no option, or takes no value; see redlock %s%s--help", shown.text,
                words->verb ? words->verb->name : "", words->verb ? " " : "");
    return CLI_USAGE;
}

/* The verbs `help` and `version`, which other programs have. */
static bool other_verb(struct cli_words *words, const char *word)
{
    bool help = strcmp(word, "help") == 0;
    bool version = strcmp(word, "version") == 0;
    words->help = words->help || help;
    words->version = words->version || version;
    return help || version;
}

static const char *verb_meant(const char *word)
{
    const char *names[CLI_VERB_COUNT];
    for (size_t i = 0; i < CLI_VERB_COUNT; i++)
        names[i] = cli_verbs[i].name;
    static const char *const others[][2] = {
        {"acquire", "lock"}, {"take", "lock"},    {"try", "lock"},   {"unlock", "release"},
        {"free", "release"}, {"renew", "extend"}, {"show", "inspect"},
        {"check", "status"}, {"doctor", "status"}, {"delete", "break"},
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcmp(word, others[i][0]) == 0)
            return others[i][1];
    }
    int nearest = rl_nearest(names, CLI_VERB_COUNT, word, strlen(word));
    return nearest >= 0 ? names[nearest] : NULL;
}

/* "run, lock, ... or status" */
static struct cli_text verbs_text(void)
{
    struct cli_text all = {""};
    size_t len = 0;
    for (size_t i = 0; i < CLI_VERB_COUNT; i++)
        len += (size_t)snprintf(all.text + len, sizeof(all.text) - len, "%s%s",
                                i == 0                    ? ""
                                : i + 1 == CLI_VERB_COUNT ? " or "
                                                          : ", ",
                                cli_verbs[i].name);
    return all;
}

static int operand_add(const struct cli *cli, struct cli_words *words, const char *word)
{
    if (!words->verb) {
        words->verb = verb_find(word);
        if (words->verb || other_verb(words, word))
            return -1;
        const char *meant = verb_meant(word);
        cli_say(cli, "'%s' is no verb%s%s%s. The verbs are %s",
                cli_text(word, strlen(word)).text, meant ? " (did you mean " : "",
                meant ? meant : "", meant ? "?)" : "", verbs_text().text);
        return CLI_USAGE;
    }
    if (words->operands < REDLOCK_NAMES_MAX)
        words->operand[words->operands] = word;
    words->operands++;
    return -1;
}

/* Options and operands up to `--` or the end. */
static int words_read(struct cli *cli, struct cli_words *words, int argc, char **argv)
{
    struct option table[CLI_OPTION_COUNT + 1];
    memset(table, 0, sizeof(table));
    for (size_t i = 0; i < CLI_OPTION_COUNT; i++) {
        table[i].name = cli_options[i].name;
        table[i].has_arg = cli_options[i].argument ? required_argument : no_argument;
        table[i].val = cli_options[i].letter;
    }
    opterr = 0;
    optind = 1;
    while (optind < argc) {
        int before = optind;
        int letter = getopt_long(argc, argv, "+:n:E:qvhV", table, NULL);
        int status = -1;
        if (letter == '?' || letter == ':') {
            status = unknown_option(cli, words, letter, argv[before]);
        } else if (letter >= 0) {
            status = cli_option_set(cli, words, letter, optarg);
        } else if (optind > before) { /* it went past `--` */
            words->rest = argv + optind;
            return -1;
        } else {
            status = operand_add(cli, words, argv[optind]);
            optind++;
        }
        if (status >= 0)
            return status;
    }
    return -1;
}

/* The whole of what was meant, so that it can be copied. */
static void say_where_command_begins(const struct cli *cli, const struct cli_words *words)
{
    char command[1024] = "";
    size_t len = 0;
    for (unsigned i = 1; i < words->operands && len < sizeof(command) - 1; i++) {
        struct cli_text word = cli_text(words->operand[i], strlen(words->operand[i]));
        int more = snprintf(command + len, sizeof(command) - len, " %s", word.text);
        len += more > 0 ? (size_t)more : 0;
    }
    cli_say(cli, "-- must stand between the NAME and the COMMAND: redlock run %s --%s",
            cli_text(words->operand[0], strlen(words->operand[0])).text, command);
}

/* run: names before `--`, the command after it. A NAME that begins with a dash is written
 * after a `--` of its own: `run -- -NAME -- COMMAND`. */
static int command_set(struct cli *cli, struct cli_words *words)
{
    char **rest = words->rest;
    if (words->operands == 0 && rest && rest[0] && rest[1] && strcmp(rest[1], "--") == 0) {
        words->operand[words->operands++] = rest[0];
        rest += 2;
    }
    if (words->operands == 0) {
        cli_say(cli,
                "the lock's NAME is missing%s: redlock run [OPTION ...] NAME ... -- "
                "COMMAND [ARG ...]",
                cli->nodes_file ? " (-n names the node list)" : "");
        return CLI_USAGE;
    }
    if (!rest && words->operands > 1) { /* as flock(1) and consul lock have it */
        say_where_command_begins(cli, words);
        return CLI_USAGE;
    }
    if (!rest || !rest[0]) {
        cli_say(cli, "the COMMAND is missing: redlock run [OPTION ...] NAME ... -- COMMAND "
                     "[ARG ...]");
        return CLI_USAGE;
    }
    cli->command = rest;
    return -1;
}

static int operand_set(struct cli *cli, struct cli_words *words)
{
    for (char **rest = words->rest; rest && *rest; rest++)
        (void)operand_add(cli, words, *rest);
    bool optional = cli->verb == CLI_EXTEND || cli->verb == CLI_RELEASE;
    unsigned needed = cli->verb == CLI_STATUS || cli->verb == CLI_INIT ? 0 : 1;
    if (words->operands == needed || (optional && words->operands == 0) ||
        (cli->verb == CLI_LOCK && words->operands > needed))
        return -1;
    cli_say(cli, "%s: redlock %s [OPTION ...]%s%s",
            words->operands < needed ? "the lock's NAME is missing" : "too many words",
            words->verb->name, needed ? " " : "", words->verb->operands);
    return CLI_USAGE;
}

static int seen_check(const struct cli *cli, const struct cli_words *words)
{
    for (size_t i = 0; i < CLI_OPTION_COUNT; i++) {
        if ((words->seen & (1U << i)) && !(cli_options[i].verbs & cli->verb)) {
            cli_say(cli, "%s has no option --%s; see redlock %s --help", words->verb->name,
                    cli_options[i].name, words->verb->name);
            return CLI_USAGE;
        }
    }
    if (cli->grace_ms >= 0 && cli->ttl_ms > 0 && cli->grace_ms > cli->ttl_ms / 2) {
        cli_say(cli, "--grace may be half of --ttl at most: the lease is extended each third");
        return CLI_USAGE;
    }
    return -1;
}

/* Is it given, even if the rest of the line is wrong? After `--` it belongs to COMMAND. */
static bool is_asked(const char *option, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], option) == 0)
            return true;
    }
    return false;
}

int cli_options_parse(struct cli *cli, int argc, char **argv)
{
    struct cli_words words = {0};
    cli->json = is_asked("--json", argc, argv);
    cli->prometheus = is_asked("--prometheus", argc, argv);
    const int64_t wait_unset = -2;
    cli->wait_ms = wait_unset;
    cli->grace_ms = -1;
    cli->not_acquired = -1;

    int status = words_read(cli, &words, argc, argv);
    if (words.verb)
        cli->verb = words.verb->verb;
    if (status >= 0)
        return status;
    if (words.help)
        return cli_print_help(cli, words.verb);
    if (words.version)
        return print_version(cli);
    if (!words.verb) {
        cli_say(cli, "say what to do: %s; see redlock --help", verbs_text().text);
        return CLI_USAGE;
    }
    if (cli->wait_ms == wait_unset)
        cli->wait_ms = cli->verb == CLI_RUN ? -1 : 0;
    status = cli->verb == CLI_RUN ? command_set(cli, &words) : operand_set(cli, &words);
    if (status < 0)
        status = seen_check(cli, &words);
    const char *owner = getenv("REDLOCK_OWNER");
    if (!cli->owner && owner && *owner && words.kind)
        cli->owner = owner;
    if (status < 0)
        status = cli_check_kind(cli, words.kind, words.operands);
    if (status < 0)
        status = cli_check_form(cli);
    cli->operand = words.operands > 0 ? words.operand[0] : NULL;
    return status < 0 ? cli_check_names(cli, words.operand, words.operands) : status;
}
