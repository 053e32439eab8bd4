/* test_cli_acl.c - redlock status --acl: the rights that it prints are enough for locks of that
 * kind, and each of them is used. */
#include "config_auto.h"

#include "cli_rig.h"
#include "marks.h"
#include "rights_play.h"
#include "suite.h"
#include "waiter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 96, SOON_MS = 10000 };

static struct masters *masters;
static struct program *program;
static char *words[WORDS_MAX]; /* of the command that was printed */
static size_t lens[WORDS_MAX];
static unsigned word_count;

static const struct {
    const char *word;
    int kind;
    unsigned masters;
} kinds[] = {
    {"plain", REDLOCK_PLAIN, 1},         {"plain", REDLOCK_PLAIN, 3},
    {"reentrant", REDLOCK_REENTRANT, 1}, {"reentrant", REDLOCK_REENTRANT, 3},
    {"fair", REDLOCK_FAIR, 1},           {"read-write", REDLOCK_READ, 1},
    {"read-write", REDLOCK_WRITE, 1},    {"read-write", REDLOCK_READ, 3},
    {"read-write", REDLOCK_WRITE, 3},
};
#define KINDS (int)(sizeof(kinds) / sizeof(kinds[0]))

/* The command that is printed, with "pw" for PASSWORD. */
static void read_command(const char *const argv[])
{
    ck_assert_int_eq(program_run(NULL, argv, &program), 0);
    char *rest = NULL, *text = strdup(program_out(program));
    word_count = 0;
    for (char *word = strtok_r(text, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
        ck_assert_uint_lt(word_count, WORDS_MAX);
        words[word_count] = strcmp(word, ">PASSWORD") == 0 ? ">pw" : word;
        lens[word_count] = strlen(words[word_count]);
        word_count++;
    }
    ck_assert_str_eq(words[0], "ACL");
}

static void obey(void)
{
    for (unsigned i = 0; i < masters->n; i++) {
        struct reply reply =
            master_do_n(masters, i, word_count, (const char *const *)words, lens);
        ck_assert_msg(reply.type == '+', "%s", reply.text);
        (void)master_do(masters, i, "ACL", "LOG", "RESET", NULL);
    }
}

static void start(unsigned n)
{
    masters = masters_start(n, NULL);
    setenv("REDLOCK_NODES", masters_file(masters, NULL), 1);
}

static void expect_nothing_denied(void)
{
    for (unsigned i = 0; i < masters->n; i++) {
        struct reply reply = master_do(masters, i, "ACL", "LOG", "1", NULL);
        ck_assert_int_eq(reply.type, '*');
        ck_assert_msg(reply.len == 0, "%s", reply.text);
    }
}

/* ---- a client of such a user ------------------------------------------------------------- */

static redlock *open_as_user_with(const char *settings)
{
    struct node_list list = {.len = 0};
    setenv("TEST_REDLOCK_SECRET", "pw", 1);
    node_list_line(&list, "%s", settings);
    for (unsigned i = 0; i < masters->n; i++)
        node_list_line(&list,
                       "node redis://locks@127.0.0.1:%d password-env=TEST_REDLOCK_SECRET",
                       masters->node[i].tcp_at.port);
    redlock *client = client_open(node_list_write(&list));
    ck_assert(wait_until(client_ready(client) == masters->n, SOON_MS));
    return client;
}

static redlock *open_as_user(void)
{
    return open_as_user_with("guard off");
}

/* One has it, another waits, is woken, extends and releases. */
static void use(int kind, const char *name)
{
    redlock *one = open_as_user(), *two = open_as_user();
    bool owned = kind != REDLOCK_PLAIN;
    struct waiter waiter;
    redlock_lock *held = client_take_as(one, name, kind == REDLOCK_READ ? REDLOCK_WRITE : kind,
                                        owned ? "a" : NULL);
    waiter_start_as(&waiter, two, name, kind, owned ? "b" : NULL, 3 * SOON_MS);
    ck_assert(wait_until(client_stats(two).waiting == 1, SOON_MS));
    ck_assert_int_eq(redlock_extend(held, 20000, NULL), 0);
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_lock(&waiter, SOON_MS);
    redlock_close(one);
    redlock_close(two);
}

TEST(acl, printed_rights_are_enough_for_locks_and_status, .rows = KINDS)
{
    start(kinds[_i].masters);
    read_command(REDLOCK("status", "--acl", "--kinds", kinds[_i].word));
    obey();
    use(kinds[_i].kind, "name");
    expect_nothing_denied();
}

TEST(acl, prefix_bounds_names, .rows = 3)
{
    static const char *const words_of[] = {"plain", "reentrant", "read-write"};
    static const int kind[] = {REDLOCK_PLAIN, REDLOCK_REENTRANT, REDLOCK_READ};
    start(3);
    read_command(REDLOCK("status", "--acl", "--prefix", "or*[d]:", "--kinds", words_of[_i]));
    obey();
    use(kind[_i], "or*[d]:42");
    expect_nothing_denied();
    CLIENT client = open_as_user();
    redlock_lock *lock = NULL;
    ck_assert_int_ne(client_try(client, "ordd:42", 1000, 0, NULL, &lock), 0);
}

/* A user of some names must read the marker, too. */
static const char *const marked[] = {
    "guard marker\nmax-ttl 500ms\nttl 400ms",
    "guard strict\nmax-ttl 500ms\nttl 400ms",
};

TEST(acl, prefix_goes_with_rights_to_marker, .rows = 4)
{
    char settings[96];
    const char *guard = marked[_i / 2];
    snprintf(settings, sizeof(settings), "%s\n", guard);
    masters = masters_start(1, NULL);
    masters_mark(masters);
    setenv("REDLOCK_NODES", masters_guarded_file(masters, settings), 1);
    read_command(REDLOCK("status", "--acl", "--prefix", _i % 2 ? "orders:" : ""));
    obey();
    CLIENT client = open_as_user_with(guard);
    redlock_lock *lock = NULL;
    ck_assert_int_eq(client_try(client, "orders:42", 400, 0, NULL, &lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    expect_nothing_denied();
}

/* What SECURITY.md says of tenants. */
TEST(acl, tenant_has_nobody_elses_locks_and_the_shared_keys, .rows = 2)
{
    static const char settings[] = "guard marker\nmax-ttl 500ms\nttl 400ms\n";
    struct talk user;
    masters = masters_start(1, NULL);
    setenv("REDLOCK_NODES",
           _i ? masters_guarded_file(masters, settings) : masters_file(masters, NULL), 1);
    read_command(REDLOCK("status", "--acl", "--prefix", "a:"));
    obey();
    talk_open(&user, masters, 0);
    ck_assert_int_eq(talk_do(&user, "AUTH", "locks", "pw", (char *)NULL).type, '+');
    ck_assert_int_eq(talk_do(&user, "SET", "a:1", "x", (char *)NULL).type, '+');
    ck_assert_int_eq(talk_do(&user, "SET", "b:1", "x", (char *)NULL).type, '-');
    ck_assert_int_eq(talk_do(&user, "DEL", "b:1", (char *)NULL).type, '-');
    ck_assert_int_eq(talk_do(&user, "GET", "b:1", (char *)NULL).type, '-');
    ck_assert_int_eq(talk_do(&user, "SET", "libredlock:quarantine", "x", (char *)NULL).type,
                     _i ? '+' : '-');
    talk_close(&user);
}

/* And where clients show their node list to each other, the key and the commands for it. */
TEST(acl, rights_to_key_of_lists_are_printed_and_enough, .rows = 2)
{
    static const char settings[] = "max-ttl 500ms\nconfig-agreement refuse\n";
    masters = masters_start(1, NULL);
    setenv("REDLOCK_NODES", masters_file(masters, settings), 1);
    read_command(REDLOCK("status", "--acl", "--prefix", _i ? "orders:" : ""));
    obey();
    /* a mark that has ended is deleted */
    master_do(masters, 0, "HSET", "libredlock:lists", "n1-ttl1-drift1-open-00000000", "1", NULL);
    CLIENT client = open_as_user_with("guard off\nmax-ttl 500ms\nttl 400ms\n"
                                        "config-agreement refuse");
    redlock_lock *lock = NULL;
    ck_assert_int_eq(client_try(client, "orders:42", 400, 0, NULL, &lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    expect_nothing_denied();
    ck_assert_int_eq(master_do(masters, 0, "HLEN", "libredlock:lists", NULL).number, 1);
}

TEST(acl, fenced_locks_need_what_is_printed, .rows = 6)
{
    static const char *const words_of[] = {"fenced", "reentrant,fenced", "read-write,fenced"};
    static const int kind[] = {REDLOCK_PLAIN, REDLOCK_REENTRANT, REDLOCK_WRITE};
    redlock_options options_of = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    start(_i < 3 ? 1 : 3);
    read_command(REDLOCK("status", "--acl", "--kinds", words_of[_i % 3]));
    obey();
    CLIENT client = open_as_user();
    options_of.kind = kind[_i % 3];
    options_of.owner = _i % 3 ? "a" : NULL;
    options_of.fenced = 1;
    ck_assert_int_eq(redlock_try(client, "name", &options_of, &lock), 0);
    ck_assert_uint_ne(redlock_fencing_token(lock), 0);
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    expect_nothing_denied();
}

/* ---- nothing too much -------------------------------------------------------------------- */

/* Of these a client makes use beside its scripts. */
static bool is_the_clients(const char *command)
{
    static const char own[] = "+eval +evalsha +info +ping +client|setname +subscribe "
                              "+unsubscribe +client|list";
    return strstr(own, command) != NULL;
}

static bool was_called(const char *command)
{
    char line[64];
    snprintf(line, sizeof(line), "cmdstat_%s:calls=", command);
    return strstr(master_do(masters, 0, "INFO", "commandstats", NULL).text, line) != NULL;
}

/* The server counts what scripts call; all of it is the user's. Of the kind alone, and of a
 * user that looks at such locks and breaks them. */
static void expect_each_called(int kind, unsigned n, const char *word, bool looks)
{
    struct rights_player player = {.errors = 0};
    struct talk admin;
    char unused[512] = "", both[64];
    start(n);
    snprintf(both, sizeof(both), "%s%s", word, looks ? ",inspect" : "");
    read_command(REDLOCK("status", "--acl", "--kinds", both));
    obey();
    talk_open(&admin, masters, 0);
    talk_open(&player.user, masters, 0);
    player.admin = &admin;
    ck_assert_int_eq(talk_do(&player.user, "AUTH", "locks", "pw", (char *)NULL).type, '+');
    talk_do(&admin, "CONFIG", "RESETSTAT", (char *)NULL);
    rights_play_kind(&player, kind, n, looks);
    expect_nothing_denied();
    for (unsigned i = 0; i < word_count; i++) {
        size_t len = strlen(unused);
        if (words[i][0] == '+' && !is_the_clients(words[i]) && !was_called(words[i] + 1))
            snprintf(unused + len, sizeof(unused) - len, " %s", words[i]);
    }
    ck_assert_msg(!unused[0], "nothing calls%s", unused);
    talk_close(&player.user);
    talk_close(&admin);
}

TEST(acl, each_printed_command_is_called_by_scripts, .rows = 2 * KINDS)
{
    expect_each_called(kinds[_i / 2].kind, kinds[_i / 2].masters, kinds[_i / 2].word, _i % 2);
}

TEST(acl, what_can_not_be_printed_is_refused, .rows = 6)
{
    static const char *const wrong[][3] = {
        {"--json", NULL},    {"--watch", NULL},   {"--prometheus", NULL},
        {"--prefix", "a b"}, {"--prefix", "\"x"}, {"--prefix", "\303\244"},
    };
    start(1);
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("status", "--acl", wrong[_i][0], wrong[_i][1]), &program),
        64);
}

TEST(acl, kinds_that_there_are_not_are_refused, .rows = 6)
{
    static const char *const wrong[] = {"",      "plian",      "plain,",
                                        ",fair", "plain fair", "wake-ups"};
    start(3);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--kinds", wrong[_i]), &program), 64);
    ck_assert(strstr(program_err(program), "--kinds") != NULL);
}

TEST(acl, fair_locks_on_several_masters_are_refused, .rows = 2)
{
    static const char *const forms[] = {"--acl", "--json"};
    start(3);
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("status", forms[_i], "--kinds", "plain,fair"), &program), 64);
    ck_assert(strstr(program_err(program), "one master") != NULL);
}

CASE(acl, .timeout_s = 90)
