/* tags: long */
/* test_cli_rights.c - redlock status asks each master for the rights of its user: those that
 * status --acl prints are all that it wants, and whichever is taken away is named. */
#include "config_auto.h"

#include "cli_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 96, PARTS = 8, SOON_MS = 10000 };

static struct masters *masters;
static char *words[WORDS_MAX]; /* of the command that status --acl printed */
static unsigned word_count;

/* ---- a user ------------------------------------------------------------------------------ */

static void start(unsigned n)
{
    masters = masters_start(n, NULL);
    setenv("TEST_REDLOCK_SECRET", "pw", 1);
}

/* A list of all masters, which this user logs in to ("": nobody does). */
static const char *list_of(const char *user, const char *setting, int db)
{
    static struct node_list list;
    list.len = 0;
    node_list_line(&list, "%s", setting);
    for (unsigned i = 0; i < masters->n; i++)
        node_list_line(&list, "node redis://%s127.0.0.1:%d/%d%s", user,
                       masters->node[i].tcp_at.port, db,
                       *user ? " password-env=TEST_REDLOCK_SECRET" : "");
    return node_list_write(&list);
}

static void read_rights(const char *const argv[])
{
    struct program *program = NULL;
    char *rest = NULL;
    ck_assert_int_eq(program_run(NULL, argv, &program), 0);
    char *text = strdup(program_out(program));
    word_count = 0;
    for (char *word = strtok_r(text, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
        ck_assert_uint_lt(word_count, WORDS_MAX);
        words[word_count++] = strcmp(word, ">PASSWORD") == 0 ? ">pw" : word;
    }
    ck_assert_uint_gt(word_count, 8);
}

static bool is_right(const char *word)
{
    return word[0] == '+' || word[0] == '~' || word[0] == '&';
}

/* The user of that master has the rights that were printed, but this one (NULL: all). */
static void give_but(unsigned node, const char *but)
{
    const char *given[WORDS_MAX];
    size_t lens[WORDS_MAX];
    unsigned count = 0;
    (void)master_do(masters, node, "ACL", "DELUSER", "locks", NULL);
    for (unsigned i = 0; i < word_count; i++) {
        if (but && strcmp(words[i], but) == 0)
            continue;
        given[count] = words[i];
        lens[count++] = strlen(words[i]);
    }
    struct reply reply = master_do_n(masters, node, count, given, lens);
    ck_assert_msg(reply.type == '+', "%s", reply.text);
    (void)master_do(masters, node, "ACL", "LOG", "RESET", NULL);
}

static void expect_nothing_denied(void)
{
    for (unsigned i = 0; i < masters->n; i++) {
        struct reply reply = master_do(masters, i, "ACL", "LOG", "1", NULL);
        ck_assert_msg(reply.type == '*' && reply.len == 0, "%s", reply.text);
    }
}

/* ---- all of them ------------------------------------------------------------------------- */

/* Each use by itself, and all together: on one master, on three. */
static const char *const uses[] = {"plain",   "fenced", "reentrant", "read-write", "status",
                                   "inspect", "all",    "fair",      "init"};
#define USES (int)(sizeof(uses) / sizeof(uses[0]))

TEST(rights, printed_rights_are_all_that_status_wants, .rows = 2 * USES)
{
    unsigned n = _i < USES ? 1 : 3;
    const char *use = uses[_i % USES];
    if (n > 1 && strcmp(use, "fair") == 0)
        return;
    start(n);
    setenv("REDLOCK_NODES", list_of("locks@", "guard off", 0), 1);
    read_rights(REDLOCK("status", "--acl", "--kinds", use));
    for (unsigned i = 0; i < n; i++)
        give_but(i, NULL);
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--json", "--kinds", use), &program),
                     CLI_FIT);
    cli_expect_check(program, 0, "rights", "ok", NULL, NULL);
    cli_expect_check(program, n - 1, "rights", "ok", NULL, NULL);
    if (strcmp(use, "all") == 0)
        expect_nothing_denied();
}

TEST(rights, user_of_plain_locks_is_told_what_other_kinds_lack)
{
    start(3);
    setenv("REDLOCK_NODES", list_of("locks@", "guard off", 0), 1);
    read_rights(REDLOCK("status", "--acl"));
    for (unsigned i = 0; i < 3; i++)
        give_but(i, NULL);
    struct program *program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 2, "rights", "warn", "read-write", "--kinds plain");
    cli_expect_check(program, 2, "rights", "warn", NULL, "status --acl --kinds all");
    cli_expect_check(program, 2, "rights", "warn", "+zrevrange", NULL);
    ck_assert(strstr(program_out(program),
                     "\"rights\":{\"plain\":[],\"reentrant\":[\"&redisson_") != NULL);
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("status", "--json", "--kinds", "reentrant"), &program),
        CLI_NOT_FIT);
    cli_expect_check(program, 0, "rights", "fail", "kinds in use", "--acl");
    cli_expect_json(program, "nodes.0.votes", "false");
}

/* ---- all but one ------------------------------------------------------------------------- */

/* A pattern is named by a key or channel that it would cover. */
static void expect_named(struct program *program, const char *word)
{
    char begin[32];
    snprintf(begin, sizeof(begin), "%.*s",
             word[0] == '+'                           ? (int)sizeof(begin) - 1
             : strncmp(word + 1, "redisson_", 9) == 0 ? 10
             : word[0] == '&'                         ? 14
             : word[1] == '{'                         ? 2
                                                      : 1,
             word);
    if (word[0] == '~' && word[1] != 'r')
        snprintf(begin + strlen(begin), sizeof(begin) - strlen(begin), "NAME");
    cli_expect_check(program, 0, "rights", NULL, begin, "--acl");
}

/* Each part of the list by itself: that takes its time. */
TEST(rights, each_right_that_is_taken_away_is_named, .rows = 2 * PARTS)
{
    unsigned n = _i < PARTS ? 1 : 3, part = (unsigned)_i % PARTS;
    start(n);
    setenv("REDLOCK_NODES", list_of("locks@", "guard off", 0), 1);
    read_rights(REDLOCK("status", "--acl", "--kinds", "all", "--prefix", "x:"));
    for (unsigned i = 0; i < n; i++)
        give_but(i, NULL);
    for (unsigned i = part; i < word_count; i += PARTS) {
        struct program *program = NULL;
        if (!is_right(words[i]))
            continue;
        give_but(0, words[i]);
        (void)program_run(NULL, REDLOCK("status", "--json", "--prefix", "x:"), &program);
        expect_named(program, words[i]);
    }
}

/* What init calls, and the keys that it names. */
#define OF_INIT                                                                                \
    "+select +eval +info +exists +dbsize +set +del ~libredlock:marker ~libredlock:quarantine " \
    "~libredlock:lists ~libredlock:fencing "

static const struct {
    const char *setting, *needs;
    const char *argv[4];
} inits[] = {
    {"guard marker", OF_INIT "+get +pttl +time ", {"init"}},
    {"guard marker", OF_INIT "+get +pttl +time ", {"init", "--replace", "1", "--yes"}},
    {"guard strict\nfencing strict", OF_INIT "+get +pttl +time ", {"init"}},
};
#define INITS (int)(sizeof(inits) / sizeof(inits[0]))

static bool is_among(const char *list, const char *word)
{
    char spaced[64];
    snprintf(spaced, sizeof(spaced), "%s ", word);
    return strstr(list, spaced) != NULL;
}

/* It says what lacks, by the command or as a key, and what prints it; and so does status. */
static void expect_init_fails(struct program *program, const char *word)
{
    const char *err = program_err(program);
    ck_assert_msg(strcasestr(err, word[0] == '+' ? word + 1 : " key"), "%s: %s", word, err);
    ck_assert_msg(strstr(err, "redlock status --acl --kinds init prints"), "%s: %s", word, err);
    ck_assert_msg(!strstr(err, "it ERR") && !strstr(err, "it NOPERM"), "%s", err);
    if (strcmp(word, "+select") == 0) /* it can't even log in */
        return;
    (void)program_run(NULL, REDLOCK("status", "--json", "--kinds", "init", "--prefix", "x:"),
                      &program);
    cli_expect_check(program, 0, "rights", NULL, word, "--acl");
}

TEST(rights, each_right_that_init_needs_is_printed_and_missed, .rows = INITS)
{
    const char *const *argv = inits[_i].argv;
    unsigned needed = 0;
    start(1);
    setenv("REDLOCK_NODES", list_of("locks@", inits[_i].setting, 1), 1);
    read_rights(REDLOCK("status", "--acl", "--kinds", "init", "--prefix", "x:"));
    for (unsigned i = 0; i < word_count; i++) {
        struct program *program = NULL;
        if (!is_right(words[i]) && i > 0)
            continue;
        bool needs = i > 0 && is_among(inits[_i].needs, words[i]);
        give_but(0, i > 0 ? words[i] : NULL); /* at first it has all */
        (void)master_do(masters, 0, "FLUSHALL", NULL);
        int status = program_run(NULL, REDLOCK(argv[0], argv[1], argv[2], argv[3]), &program);
        ck_assert_msg((status != 0) == needs, "%s: %s", words[i], program_err(program));
        if (needs)
            expect_init_fails(program, words[i]);
        needed += needs;
    }
    unsigned wanted = 0;
    for (const char *at = inits[_i].needs; (at = strchr(at, ' ')); at++)
        wanted++;
    ck_assert_uint_eq(needed, wanted);
}

/* It can't even log in. */
TEST(rights, database_that_may_not_be_chosen_is_named)
{
    start(1);
    setenv("REDLOCK_NODES", list_of("locks@", "guard off", 1), 1);
    read_rights(REDLOCK("status", "--acl"));
    give_but(0, NULL);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--kinds", "plain"), NULL), CLI_FIT);
    give_but(0, "+select");
    struct program *program = cli_expect_status(CLI_NOT_FIT);
    cli_expect_check(program, 0, "connection", "fail", "select", NULL);
}

/* ---- servers that refuse the question --------------------------------------------------- */

enum { HEARD_MAX = 65536, ASKED_MAX = 256 };

/* Ask as such a server does: without its arguments it tells of no command. */
static const char patched[] =
    "local server = redis "
    "local redis = {acl_check_cmd = function(...) "
    "  local argv, info = {...}, nil "
    "  info = argv[2] and server.call('COMMAND', 'INFO', argv[1] .. '|' .. argv[2])[1] "
    "  info = info or server.call('COMMAND', 'INFO', argv[1])[1] "
    "  if info[2] > 0 and #argv ~= info[2] or #argv < -info[2] then error('args') end "
    "  return server.acl_check_cmd(...) "
    "end} ";

/* The question that status asks, as MONITOR shows it: its words, in place. */
static unsigned overhear(char *heard, const char *asked[ASKED_MAX])
{
    size_t len = 0;
    int fd = net_connect(&masters->node[0].unix_at);
    ck_assert(net_send(fd, "MONITOR\r\n", 9));
    ck_assert_int_eq(read(fd, heard, 5), 5);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status"), NULL), CLI_FIT);
    (void)master_do(masters, 0, "ECHO", "the end", NULL);
    heard[0] = '\0';
    while (!strstr(heard, "the end")) {
        ssize_t got = read(fd, heard + len, HEARD_MAX - 1 - len);
        ck_assert_int_gt(got, 0);
        heard[len += (size_t)got] = '\0';
    }
    close(fd);
    char *at = strstr(heard, "\"if not redis.acl_check_cmd");
    ck_assert_ptr_nonnull(at);
    unsigned count = 0;
    char *line = strtok(at, "\r\n");
    for (char *word = strtok(line, "\""); word; word = strtok(NULL, "\"")) {
        ck_assert_uint_lt(count, ASKED_MAX);
        if (strcmp(word, " ") != 0)
            asked[count++] = word;
    }
    return count;
}

/* Debian's Redis 8.0.2 is one of them, and others are to follow. */
TEST(rights, commands_are_asked_for_with_all_of_their_arguments)
{
    static char heard[HEARD_MAX], script[4096];
    const char *asked[ASKED_MAX], *argv[ASKED_MAX + 1];
    size_t lens[ASKED_MAX + 1];
    start(1);
    setenv("REDLOCK_NODES", list_of("", "guard off", 0), 1);
    unsigned count = overhear(heard, asked);
    snprintf(script, sizeof(script), "%s%s", patched, asked[0]);
    for (unsigned i = 0; i <= count; i++) {
        argv[i] = i == 0 ? "EVAL" : i == 1 ? script : asked[i - 1];
        lens[i] = strlen(argv[i]);
    }
    struct reply reply = master_do_n(masters, 0, count + 1, argv, lens);
    ck_assert_msg(reply.type == '$' && reply.len > 60, "%s", reply.text);
    ck_assert_msg(strspn(reply.text, "1") == reply.len, "%s", reply.text);
}

/* It has no such command: nobody can say that the user lacks the right to it. */
TEST(rights, right_that_server_can_not_tell_of_is_unknown)
{
    static const char *const renamed[] = {"--rename-command", "PUBLISH", "", NULL};
    masters = masters_start(1, renamed);
    setenv("REDLOCK_NODES", list_of("", "guard off", 0), 1);
    struct program *program = cli_expect_status(CLI_FIT);
    cli_expect_check(program, 0, "rights", "unknown", "whether the user has +publish", NULL);
    cli_expect_check(program, 0, "wake", "warn", NULL, "PUBLISH");
}

/* ---- what it means ----------------------------------------------------------------------- */

static const struct trap {
    const char *denied, *lacks;
    bool can_be_taken;
} traps[] = {
    {"-eval", "+eval", true}, {"-evalsha", "+evalsha", true},  {"-del", "+del", true},
    {"-set", "+set", false},  {"-pexpire", "+pexpire", false},
};

TEST(rights, locks_that_can_not_be_released_are_told, .rows = 5)
{
    const struct trap *trap = &traps[_i];
    start(3);
    setenv("REDLOCK_NODES", list_of("", "guard off", 0), 1);
    (void)master_do(masters, 1, "ACL", "SETUSER", "default", trap->denied, NULL);
    struct program *program = cli_expect_status(CLI_DEGRADED);
    cli_expect_check(program, 0, "rights", "ok", NULL, NULL);
    cli_expect_check(program, 1, "rights", "fail", trap->lacks, "--acl");
    ck_assert((strstr(program_out(program), "can be taken there and not released") != NULL) ==
              trap->can_be_taken);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--prometheus"), &program),
                     CLI_DEGRADED);
    ck_assert(strstr(program_out(program), ",check=\"rights\"} 2\n") != NULL);
}

static const struct narrow {
    const char *keys, *result, *lacks;
} narrows[] = {
    {"~x:rights ~{x:rights}:redlock:queue ~{x:rights}:redlock:broken", "ok", NULL},
    {"~x:rights ~{x:rights}:redlock:queue", "warn", "plain: ~{NAME}:redlock:broken"},
    {"~x:rights ~{x:rights}:redlock:broken", "fail", "~{NAME}:redlock:queue"},
};

/* As redlock(7) has them. Without the note's key locks are had all the same. */
TEST(rights, narrow_patterns_are_enough, .rows = 3)
{
    start(1);
    setenv("REDLOCK_NODES", list_of("locks@", "guard off", 0), 1);
    read_rights(REDLOCK("status", "--acl", "--prefix", "x:"));
    for (unsigned i = 0; i < word_count; i++)
        words[i] = words[i][0] == '~' ? "resetkeys" : words[i];
    char keys[128], *rest = NULL;
    snprintf(keys, sizeof(keys), "%s", narrows[_i].keys);
    for (char *word = strtok_r(keys, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        words[word_count++] = word;
    give_but(0, NULL);
    struct program *program = NULL;
    (void)program_run(NULL, REDLOCK("status", "--json", "--kinds", "plain", "--prefix", "x:"),
                      &program);
    cli_expect_check(program, 0, "rights", narrows[_i].result, narrows[_i].lacks, NULL);
}

/* The guard makes INFO a right without which no lock is had. */
TEST(rights, info_is_needed_for_guard, .rows = 2)
{
    start(1);
    (void)master_do(masters, 0, "ACL", "SETUSER", "default", "-info", NULL);
    setenv("REDLOCK_NODES", list_of("", _i ? "guard off" : "guard on", 0), 1);
    struct program *program = cli_expect_status(_i ? CLI_FIT : CLI_NOT_FIT);
    cli_expect_check(program, 0, "rights", _i ? "warn" : "fail", "+info", NULL);
}

CASE(rights, .timeout_s = 90)
