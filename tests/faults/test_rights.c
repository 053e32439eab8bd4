/* tags: source */
/* test_rights.c - the rights that redlock(7) tells to give a user are enough for every kind of
 * lock, and each command among them is needed: the lists are read out of the manual. A server
 * keeps a log of what it has denied, also to a script that goes on without it. */
#include "config_auto.h"

#include "rights_play.h"
#include "waiter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the manual ------------------------------------------------------------------------- */

enum { RIGHTS_MAX = 96, RIGHT_MAX = 32 };

struct list {
    unsigned count;
    char word[RIGHTS_MAX][RIGHT_MAX];
};

static struct list plain_commands; /* what the first block allows */
static struct list more_commands;  /* and the second one */
static struct list channels;
static struct list plain_keys, more_keys; /* likewise, with NAME in them */
static struct list all_commands;

static void add(struct list *list, const char *word)
{
    if (list->count >= RIGHTS_MAX || strlen(word) >= RIGHT_MAX)
        suite_die("too many rights, or too long a one: %s", word);
    snprintf(list->word[list->count++], RIGHT_MAX, "%s", word);
}

static void read_line(char *line, struct list *commands)
{
    char *rest = NULL;
    for (char *word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
        if (word[0] == '+')
            add(commands, word);
        else if (word[0] == '&')
            add(&channels, word);
    }
}

/* "~NAME ~{NAME}:redlock:queue ..." is for plain locks; what the other kinds need is told after
 * these words, each on a line of its own. */
static void read_keys(char *line, bool *more)
{
    char *rest = NULL;
    char pattern[RIGHT_MAX];
    if (strncmp(line, ".Ql ~NAME ", 10) == 0) {
        for (char *word = strtok_r(line + 4, " \n", &rest); word && word[0] == '~';
             word = strtok_r(NULL, " \n", &rest))
            add(&plain_keys, word);
    } else if (strstr(line, "need rights to the keys")) {
        *more = true;
    } else if (*more && strncmp(line, ".Ql ", 4) == 0) {
        snprintf(pattern, sizeof(pattern), "~%s", strtok_r(line + 4, " \n", &rest));
        add(&more_keys, pattern);
    } else if (strncmp(line, "and", 3) != 0) {
        *more = false;
    }
}

/* The block that begins with ACL SETUSER locks, and the next one that begins with commands. */
/* Before the tests are registered: they have a row for each of its words. */
__attribute__((constructor)) static void read_manual(void)
{
    const char *srcdir = getenv("srcdir");
    char path[512], line[512];
    struct list *commands = NULL;
    unsigned blocks = 0;
    bool more = false;
    snprintf(path, sizeof(path), "%s/man/redlock.7", srcdir ? srcdir : ".");
    FILE *page = fopen(path, "re");
    if (!page)
        suite_die("%s can't be read", path);
    while (fgets(line, sizeof(line), page)) {
        if (strncmp(line, "ACL SETUSER locks ", 18) == 0 || (blocks == 1 && line[0] == '+'))
            commands = blocks++ ? &more_commands : &plain_commands;
        else if (line[0] == '.')
            commands = NULL;
        if (commands)
            read_line(line, commands);
        else
            read_keys(line, &more);
    }
    fclose(page);
    if (blocks != 2 || plain_commands.count < 10 || more_commands.count < 20 ||
        channels.count != 2 || plain_keys.count != 3 || more_keys.count != 2)
        suite_die("%u lists, of %u and %u commands, %u channels, %u and %u keys", blocks,
                  plain_commands.count, more_commands.count, channels.count, plain_keys.count,
                  more_keys.count);
    for (unsigned i = 0; i < plain_commands.count + more_commands.count; i++)
        add(&all_commands, i < plain_commands.count
                               ? plain_commands.word[i]
                               : more_commands.word[i - plain_commands.count]);
}

/* ---- users ------------------------------------------------------------------------------ */

static struct masters *masters;
static struct talk talk;
/* The words of a command that makes the user. */
struct rules {
    unsigned count;
    const char *word[2 * RIGHTS_MAX];
    size_t len[2 * RIGHTS_MAX];
    char key[32][2 * RIGHT_MAX];
    unsigned keys;
};

static void allow(struct rules *rules, const char *word)
{
    rules->word[rules->count] = word;
    rules->len[rules->count++] = strlen(word);
}

static void allow_list(struct rules *rules, const struct list *list, const char *but)
{
    for (unsigned i = 0; i < list->count; i++) {
        if (!but || strcmp(list->word[i], but) != 0)
            allow(rules, list->word[i]);
    }
}

/* The patterns of these tests' names. */
static void allow_keys(struct rules *rules, const struct list *patterns, const char *but)
{
    static const char *const names[] = {"k", "m", "name"};
    for (unsigned i = 0; i < 3 * patterns->count; i++) {
        const char *pattern = patterns->word[i / 3], *at = strstr(pattern, "NAME");
        if (but && strcmp(pattern, but) == 0)
            continue;
        char *key = rules->key[rules->keys++];
        int before = at ? (int)(at - pattern) : (int)strlen(pattern);
        snprintf(key, sizeof(rules->key[0]), "%.*s%s%s", before, pattern,
                 at ? names[i % 3] : "", at ? at + 4 : "");
        allow(rules, key);
    }
}

/* The user "locks" on all masters, with what these commands go with but for that one of all its
 * rights (NULL: with all). */
static void make_user(const struct list *commands, const char *but)
{
    static const char *const head[] = {"ACL", "SETUSER", "locks", "reset", "on", ">pw"};
    struct rules rules = {.count = 0};
    for (unsigned i = 0; i < sizeof(head) / sizeof(head[0]); i++)
        allow(&rules, head[i]);
    allow_list(&rules, commands, but);
    allow_list(&rules, &channels, but);
    allow_keys(&rules, &plain_keys, but);
    if (commands == &all_commands)
        allow_keys(&rules, &more_keys, but);
    for (unsigned i = 0; i < masters->n; i++) {
        struct reply reply = master_do_n(masters, i, rules.count, rules.word, rules.len);
        ck_assert_msg(reply.type == '+', "%s", reply.text);
        master_do(masters, i, "ACL", "LOG", "RESET", NULL);
    }
}

static const char *denied(void)
{
    static char text[600];
    for (unsigned i = 0; i < masters->n; i++) {
        struct reply reply = master_do(masters, i, "ACL", "LOG", "1", NULL);
        ck_assert_int_eq(reply.type, '*');
        if (reply.len > 0) {
            snprintf(text, sizeof(text), "%.500s", reply.text);
            return text;
        }
    }
    return NULL;
}

/* ---- scripts ---------------------------------------------------------------------------- */

static struct rights_player player;

static void as_user(const struct list *commands, const char *but)
{
    make_user(commands, but);
    talk_do(&talk, "FLUSHALL", (char *)NULL);
    talk_open(&player.user, masters, 0);
    ck_assert_int_eq(talk_do(&player.user, "AUTH", "locks", "pw", (char *)NULL).type, '+');
    player.admin = &talk;
    player.errors = 0;
}

static void set_up(void)
{
    masters = masters_start(1, NULL);
    talk_open(&talk, masters, 0);
}

static void tear_down(void)
{
    talk_close(&player.user);
    talk_close(&talk);
}

TEST(rights, rights_of_plain_locks_suffice_for_them)
{
    set_up();
    as_user(&plain_commands, NULL);
    rights_play_plain(&player);
    ck_assert_msg(!denied() && player.errors == 0, "%u: %s", player.errors, denied());
    /* They can be looked at and deleted; what only other kinds would have beside them is left
     * alone without a word. */
    ck_assert_int_eq(rights_run(&player, RL_ROW_PLAIN, RL_ACQUIRE, "a", "t1"), 1);
    ck_assert_int_eq(rights_run(&player, RL_ROW_PLAIN, RL_INSPECT, "a", ""), 0);
    ck_assert_int_eq(rights_run(&player, RL_ROW_PLAIN, RL_FORCE, "a", ""), 1);
    /* What else stands there is an error. */
    talk_do(&talk, "RPUSH", "k", "x", (char *)NULL);
    ck_assert_int_eq(rights_run(&player, RL_ROW_PLAIN, RL_ACQUIRE, "a", "t1"), -1);
    tear_down();
}

TEST(rights, both_lists_are_enough_for_all_kinds)
{
    set_up();
    as_user(&all_commands, NULL);
    rights_play_all(&player);
    ck_assert_msg(!denied() && player.errors == 0, "%u: %s", player.errors, denied());
    tear_down();
}

/* Of these a client makes use beside its scripts. */
static bool is_the_clients(const char *command)
{
    static const char *const own[] = {"+eval",      "+evalsha",    "+info",
                                      "+ping",      "+select",     "+client|setname",
                                      "+subscribe", "+unsubscribe"};
    for (unsigned i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (strcmp(command, own[i]) == 0)
            return true;
    }
    return false;
}

/* All rights but one of a list: something is denied, by a script of these kinds. */
static void expect_each_needed(const struct list *list, const struct list *commands,
                               void (*play)(struct rights_player *player))
{
    char unneeded[1024] = "";
    set_up();
    for (unsigned i = 0; i < list->count; i++) {
        if (is_the_clients(list->word[i]))
            continue;
        as_user(commands, list->word[i]);
        play(&player);
        size_t len = strlen(unneeded);
        if (!denied())
            snprintf(unneeded + len, sizeof(unneeded) - len, " %s", list->word[i]);
        talk_close(&player.user);
    }
    ck_assert_msg(!unneeded[0], "nothing needs%s", unneeded);
    as_user(commands, NULL);
    tear_down();
}

TEST(rights, plain_locks_need_each_of_theirs)
{
    expect_each_needed(&plain_commands, &plain_commands, rights_play_plain);
    expect_each_needed(&plain_keys, &plain_commands, rights_play_plain);
}

TEST(rights, other_kinds_need_each_of_theirs)
{
    expect_each_needed(&more_commands, &all_commands, rights_play_others);
    expect_each_needed(&more_keys, &all_commands, rights_play_others);
    expect_each_needed(&channels, &all_commands, rights_play_all);
}

/* ---- a client --------------------------------------------------------------------------- */

enum { SOON_MS = 10000 };

static redlock *mine, *other; /* the user's; one that may do all */
static redlock_lock_info info = REDLOCK_LOCK_INFO_INIT(NULL, 0, NULL, 0);

static void open_clients(unsigned n, const struct list *commands, const char *but)
{
    struct node_list list = {.len = 0};
    masters = masters_start(n, NULL);
    make_user(commands, but);
    setenv("TEST_REDLOCK_SECRET", "pw", 1);
    node_list_line(&list, "guard off");
    for (unsigned i = 0; i < n; i++)
        node_list_line(&list,
                       "node redis://locks@127.0.0.1:%d/1 password-env=TEST_REDLOCK_SECRET",
                       masters->node[i].tcp_at.port);
    mine = client_open(node_list_write(&list));
    list.len = 0;
    node_list_line(&list, "guard off");
    for (unsigned i = 0; i < n; i++)
        node_list_line(&list, "node redis://127.0.0.1:%d/1", masters->node[i].tcp_at.port);
    other = client_open(node_list_write(&list));
    ck_assert(wait_until(client_ready(other) == n, SOON_MS));
}

static void close_clients(void)
{
    redlock_close(mine);
    redlock_close(other);
}

static bool somebody_listens(void)
{
    return master_do(masters, 0, "PUBSUB", "CHANNELS", NULL).len > 0;
}

/* A call of each sort. With all rights each must do what it is for. */
static void use(int kind, bool may, int wait_ms)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_status_report status = REDLOCK_STATUS_INIT(NULL, 0);
    struct waiter waiter;
    redlock_lock *lock = NULL;
    options.kind = kind;
    options.owner = kind == REDLOCK_PLAIN ? NULL : "me";
    int result = redlock_get_status(mine, &status);
    ck_assert(!may || result == 0);
    redlock_lock *held =
        client_take_as(other, "name", kind == REDLOCK_READ ? REDLOCK_WRITE : kind,
                       kind == REDLOCK_PLAIN ? NULL : "you");
    waiter_start_as(&waiter, mine, "name", kind, options.owner, wait_ms);
    bool waits = wait_until(client_stats(mine).waiting == 1 || waiter.back, SOON_MS);
    bool listens = wait_until(somebody_listens() || waiter.back, SOON_MS);
    ck_assert(waits && listens && (!may || !waiter.back) && redlock_release(held) == 0);
    ck_assert(waiter_is_back(&waiter, SOON_MS));
    pthread_join(waiter.thread, NULL);
    ck_assert(!may || waiter.code == 0);
    lock = waiter.lock;
    ck_assert(!may || redlock_extend(lock, 20000, NULL) == 0);
    for (int i = 0; i < 2; i++) /* the second time the master knows the script */
        result = redlock_inspect_n(mine, "name", 4, options.owner, &info);
    ck_assert(!may || (result == 0 && info.holders == 1));
    if (kind != REDLOCK_PLAIN && may)
        ck_assert_uint_eq(info.own_exclusive + info.own_read + info.own_write, 1);
    result = lock ? redlock_release(lock) : REDLOCK_OK;
    ck_assert(!may || result == 0);
    if (!may)
        return;
    held = client_take_as(other, "name", kind, kind == REDLOCK_PLAIN ? NULL : "you");
    ck_assert_int_eq(redlock_force_release_n(mine, "name", 4, REDLOCK_OFF, NULL), 0);
    (void)redlock_release(held);
}

/* Patterns that cover a name, its queue and its note, and nothing else. */
TEST(rights, narrow_user_is_told_who_broke_its_lock)
{
    redlock_hold_report hold = REDLOCK_HOLD_REPORT_INIT(NULL, 0);
    open_clients(1, &plain_commands, NULL);
    redlock_lock *lock = client_take(mine, "name");
    pause_ms(5); /* a note has whole milliseconds, and may be of a hold before */
    ck_assert_int_eq(redlock_force_release_n(other, "name", 4, REDLOCK_OFF, NULL), 0);
    ck_assert_int_ne(redlock_extend(lock, CLIENT_TTL_MS, NULL), 0);
    ck_assert_int_eq(redlock_get_hold(lock, &hold), 0);
    ck_assert_int_eq(hold.loss, REDLOCK_LOSS_BROKEN);
    ck_assert_msg(!denied(), "%s", denied());
    close_clients();
}

struct round {
    int kind;
    unsigned n;
};

static const struct round rounds[] = {
    {REDLOCK_PLAIN, 1}, {REDLOCK_PLAIN, 3}, {REDLOCK_REENTRANT, 1},
    {REDLOCK_FAIR, 1},  {REDLOCK_READ, 1},  {REDLOCK_WRITE, 1},
    {REDLOCK_READ, 3},  {REDLOCK_WRITE, 3}, {REDLOCK_REENTRANT, 3},
};

TEST(rights, client_needs_no_more, .rows = ROWS(rounds))
{
    const struct round *round = &rounds[_i];
    bool plain = round->kind == REDLOCK_PLAIN;
    open_clients(round->n, plain ? &plain_commands : &all_commands, NULL);
    use(round->kind, true, SOON_MS);
    /* A look at a plain lock asks for more than it needs. */
    ck_assert_msg(plain || !denied(), "%s", denied());
    close_clients();
}

/* Nothing is denied then, whether the name is free or held, and nobody waits or somebody. */
TEST(rights, look_at_plain_lock_needs_three_more, .rows = 4)
{
    static const char *const looks[] = {"+llen", "+zcard", "+pubsub|numsub", NULL};
    struct list commands = plain_commands;
    for (unsigned i = 0; looks[i]; i++) {
        if ((int)i != _i)
            add(&commands, looks[i]);
    }
    open_clients(3, &commands, NULL);
    for (unsigned i = 0; i < masters->n; i++)
        master_do(masters, i, "ACL", "SETUSER", "locks", "~redlock:probe:*",
                  "~{redlock:probe:*",
                  "~{name}:redlock:writer", "~redisson_lock_queue:*", NULL);
    ck_assert(wait_until(client_ready(mine) == 3, SOON_MS));
    redlock_status_report status = REDLOCK_STATUS_INIT(NULL, 0);
    ck_assert_int_eq(redlock_get_status(mine, &status), 0);
    ck_assert_int_eq(redlock_inspect_n(mine, "name", 4, NULL, &info), 0);
    redlock_lock *held = client_take(other, "name");
    ck_assert_int_eq(redlock_inspect_n(mine, "name", 4, NULL, &info), 0);
    ck_assert_uint_eq(info.holders, 1);
    ck_assert_int_eq(redlock_probe(mine, NULL, &status), 0);
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert_msg((denied() != NULL) == (looks[_i] != NULL), "%s", denied());
    close_clients();
}

TEST(rights, client_needs_each_of_its_own, .rows = (int)plain_commands.count)
{
    const char *command = all_commands.word[_i];
    if (!is_the_clients(command))
        return;
    open_clients(1, &all_commands, command);
    /* What ends the listening is said by one who has listened, however busy the machine is. */
    use(REDLOCK_REENTRANT, false, strcmp(command, "+unsubscribe") == 0 ? SOON_MS : 300);
    ck_assert_msg(wait_until(denied() != NULL, 3000), "nothing needs %s", command);
    close_clients();
}

CASE(rights, .timeout_s = 60)
