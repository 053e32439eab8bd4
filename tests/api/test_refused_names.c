/* test_refused_names.c - a name that is a key of another lock is refused wherever a name comes
 * in, and so is an owner whose leases could be another lock's: nobody else's script can then
 * touch the keys of a lock. Which names and owners these are: test_key_rules.c. */
#include "config_auto.h"

#include "clients.h"
#include "kinds/handle_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char logged[512]; /* the last line */

static void note(void *context, int level, const char *text)
{
    (void)context;
    ck_assert_int_eq(level, REDLOCK_LOG_ERROR);
    snprintf(logged, sizeof(logged), "%s", text);
}

static void open_logging(unsigned n)
{
    redlock_config config = REDLOCK_CONFIG_INIT;
    masters = masters_start(n, NULL);
    config.file = masters_file(masters, "connect-timeout 10s\n");
    config.log = note;
    config.log_level = REDLOCK_LOG_ERROR;
    ck_assert_int_eq(redlock_open_config(&config, NULL, &one), 0);
    ck_assert_int_eq(redlock_open_config(&config, NULL, &two), 0);
    logged[0] = '\0';
}

/* It was EINVAL, and the log has told so. */
static void expect(int result, const char *part)
{
    ck_assert_int_eq(result, REDLOCK_EINVAL);
    ck_assert_msg(strstr(logged, part), "'%s' in '%s'", part, logged);
    logged[0] = '\0';
}

static const char *const keys_of_x[] = {
    "{x}:redlock:queue",
    "{x}:redlock:holds",
    "{x}:redlock:seen",
    "libredlock:marker",
    "libredlock:quarantine",
    "libredlock:lists",
    "{x}:redlock:writer",
    "{x}:redlock:readers",
    "redisson_lock_queue:{x}",
    "redisson_lock_timeout:{x}",
    "{x}:me:rwlock_timeout:1",
    "{x}:me:write:rwlock_timeout:1",
};
enum { KEYS = sizeof(keys_of_x) / sizeof(keys_of_x[0]) };

/* Whatever writes x, and whoever waits for it: nobody loses a lock of another name. */
TEST(refused_names, no_lock_is_key_of_another_one, .rows = 5)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    open_logging(_i < 5 ? 1 : 3);
    options.kind = _i % 5;
    for (unsigned i = 0; i < KEYS; i++) {
        redlock_lock *lock = NULL;
        expect(redlock_try(one, keys_of_x[i], &options, &lock), "a lock's name can't");
        ck_assert_ptr_null(lock);
    }
    close_clients();
}

/* A GUID, or JSON: of an ordinary lock, wherever the format is not Redisson's. */
TEST(refused_names, name_in_braces_is_name_where_format_is_ours, .rows = 2 * 5)
{
    static const char *const braced[] = {"{3F2504E0-4F89-41D3-9A0C-0305E82C3301}",
                                         "{\"order\":42}", "{}", "{a}b}"};
    const unsigned n = _i < 5 ? 1 : 3;
    const int kind = _i % 5;
    open_logging(n);
    for (unsigned i = 0; i < sizeof(braced) / sizeof(braced[0]); i++) {
        redlock_lock *lock = NULL;
        if (n > 1 && kind == REDLOCK_FAIR)
            continue; /* there are none */
        if (n == 1 && kind != REDLOCK_PLAIN) {
            expect(client_try_as(one, braced[i], kind, "me", 0, &lock), "in braces as a whole");
            ck_assert_ptr_null(lock);
            continue;
        }
        lock = client_take_as(one, braced[i], kind, kind == REDLOCK_PLAIN ? NULL : "me");
        ck_assert(master_has(masters, 0, braced[i]));
        ck_assert_int_eq(redlock_release(lock), 0);
    }
    close_clients();
}

TEST(refused_names, name_in_braces_and_name_inside_are_two_locks)
{
    open_logging(1);
    redlock_lock *lock = client_take(one, "x"), *other = client_take(two, "{x}");
    redlock_lock_info info = REDLOCK_LOCK_INFO_INIT(NULL, 0, NULL, 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_eq(redlock_inspect_n(one, "{x}", 3, NULL, &info), 0);
    ck_assert_int_eq(info.held, 1);
    ck_assert_int_eq(redlock_release(other), 0);
    close_clients();
}

static void never(void *context, int result, redlock_lock *lock)
{
    (void)context;
    (void)result;
    (void)lock;
    abort();
}

TEST(refused_names, clashing_name_is_refused_in_every_call)
{
    static const char name[] = "{x}:redlock:writer", part[] = "can't end in }:redlock:queue";
    static const char *const names[] = {"a", name, "b"};
    static const redlock_bytes bytes[] = {{"a", 1}, {name, sizeof(name) - 1}};
    redlock_lock_info info = REDLOCK_LOCK_INFO_INIT(NULL, 0, NULL, 0);
    redlock_lock *lock = NULL;
    open_logging(1);
    redlock_item items[] = {REDLOCK_ITEM(one, "a", NULL), REDLOCK_ITEM(two, name, NULL)};
    size_t len = sizeof(name) - 1;
    expect(client_try(one, name, 0, 0, NULL, &lock), part);
    expect(redlock_try_n(one, name, len, NULL, &lock), part);
    expect(client_try_all(one, names, 3, 0, NULL, &lock), part);
    expect(redlock_try_async_n(one, name, len, NULL, never, NULL, NULL), part);
    expect(redlock_try_names_async_n(one, bytes, 2, NULL, never, NULL, NULL), part);
    expect(redlock_try_multi(items, 2, 0), part);
    expect(redlock_inspect_n(one, name, len, NULL, &info), part);
    expect(redlock_force_release_n(one, name, len, REDLOCK_OFF, NULL), part);
    ck_assert_ptr_null(lock);
    ck_assert(wait_until(masters_with(masters, "a") == 0, 10000));
    close_clients();
}

/* ---- texts ------------------------------------------------------------------------------ */

/* The text of a lock that was taken, with another name or owner in it. */
static const char *forge(redlock_lock *lock, const char *name, const char *owner)
{
    static char text[REDLOCK_HANDLE_MAX];
    static struct rl_handle handle;
    ck_assert_int_eq(redlock_detach(lock, text, sizeof(text)), 0);
    ck_assert_int_eq(rl_handle_decode(text, &handle), 0);
    handle.name_len = strlen(name);
    memcpy(handle.name, name, handle.name_len);
    if (owner) {
        handle.owner_len = strlen(owner);
        memcpy(handle.owner, owner, handle.owner_len);
    }
    ck_assert_int_eq(rl_handle_encode(&handle, text, sizeof(text)), 0);
    return text;
}

TEST(refused_names, text_with_clashing_name_is_not_attached)
{
    redlock_lock *lock = NULL;
    open_logging(1);
    const char *text = forge(client_take(one, "a"), "{x}:redlock:holds", NULL);
    expect(redlock_attach(two, text, &lock), "can't end in }:redlock:queue");
    text = forge(client_take_as(one, "b", REDLOCK_READ, "me"), "x", "a:o:7");
    expect(redlock_attach(two, text, &lock), "the owner of a read or write lock");
    text = forge(client_take_as(one, "c", REDLOCK_REENTRANT, "me"), "{x}", NULL);
    expect(redlock_attach(two, text, &lock), "in braces as a whole");
    ck_assert_ptr_null(lock);
    close_clients();
}

/* ---- owners ----------------------------------------------------------------------------- */

TEST(refused_names, leases_of_two_names_never_meet)
{
    redlock_lock *lock = NULL;
    open_logging(1);
    for (int kind = REDLOCK_READ; kind <= REDLOCK_WRITE; kind++) {
        /* "{x}:a:o:rwlock_timeout:1" would be a lease of both. */
        expect(client_try_as(one, "{x}:a", kind, "o", 0, &lock), "with exactly one");
        redlock_lock *other = client_take_as(two, "x", kind, "a:o");
        ck_assert_int_eq(redlock_release(other), 0);
        expect(client_try_as(one, "x", kind, "a:o:7", 0, &lock), "one colon at most");
        expect(client_try_as(one, "x", kind, "a}:o", 0, &lock), "without a closing brace");
        other = client_take_as(two, "{x}:a", kind, "o:7");
        ck_assert_int_eq(redlock_release(other), 0);
    }
    /* Those of other kinds have no such leases. */
    ck_assert_int_eq(redlock_release(client_take_as(one, "{x}:a", REDLOCK_FAIR, "o")), 0);
    ck_assert_int_eq(redlock_release(client_take_as(one, "x", REDLOCK_REENTRANT, "a:o:7")), 0);
    close_clients();
}

TEST(refused_names, owners_are_free_on_several_masters)
{
    open_logging(3);
    ck_assert_int_eq(redlock_release(client_take_as(one, "{x}:a", REDLOCK_READ, "o")), 0);
    ck_assert_int_eq(redlock_release(client_take_as(one, "x", REDLOCK_WRITE, "a:o:7}")), 0);
    close_clients();
}

CASE(refused_names, .timeout_s = 60)
ALSO(refused_names, no_lock_is_key_of_another_one, .first = 5, .rows = 7)
ALSO(refused_names, no_lock_is_key_of_another_one, .first = 8, .rows = 10)
