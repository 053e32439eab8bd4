/* tags: threads */
/* test_resolve.c - names become addresses, and nobody ever waits for the resolver. */
#include "config_auto.h"

#include "fake_dns.h"
#include "net/resolve.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_MS = 5000 };

static int wake_fd;

static void set_up(void)
{
    wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    ck_assert_int_ge(wake_fd, 0);
}

static bool woken(void)
{
    uint64_t count;
    return read(wake_fd, &count, sizeof(count)) == sizeof(count);
}

/* This many were begun, and nothing of them is left. */
static bool all_over(unsigned calls)
{
    return fake_dns_calls() == calls && fake_dns_waiting() == 0 && fake_dns_lent() == 0 &&
           fake_dns_threads() == 0;
}

/* The addresses as one text, with spaces between them. */
static const char *as_text(const struct rl_addresses *addresses)
{
    static char text[1024];
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < addresses->count; i++) {
        char one[RL_ADDRESS_TEXT_MAX];
        rl_address_text(&addresses->list[i], one, sizeof(one));
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? " " : "", one);
    }
    return text;
}

/* Look a name up, sleeping on the wake descriptor only: the way it ended. */
static enum rl_lookup_state look_up(const char *name, struct rl_addresses *ret, char *why,
                                    size_t why_size)
{
    struct rl_lookup *lookup = rl_lookup_start(name, 6379, wake_fd);
    ck_assert_ptr_nonnull(lookup);
    ck_assert(wait_until(woken(), LIMIT_MS));
    enum rl_lookup_state state = rl_lookup_poll(lookup, ret, why, why_size);
    ck_assert_int_eq(state, rl_lookup_poll(lookup, ret, why, why_size));
    rl_lookup_abandon(lookup);
    return state;
}

static void expect_order(const char *answer, const char *expected)
{
    struct rl_addresses addresses;
    char why[128];
    fake_dns_answer(answer);
    ck_assert_int_eq(look_up("redis.example", &addresses, why, sizeof(why)), RL_LOOKUP_DONE);
    ck_assert_str_eq(as_text(&addresses), expected);
    ck_assert(wait_until(fake_dns_lent() == 0, LIMIT_MS));
}

TEST(resolve, numeric_addresses_need_no_look_up)
{
    static const struct {
        const char *host, *text;
    } known[] = {
        {"127.0.0.1", "127.0.0.1:6379"},
        {"10.1.2.3", "10.1.2.3:6379"},
        {"::1", "[::1]:6379"},
        {"2001:db8::7", "[2001:db8::7]:6379"},
        {"fe80::1%lo", "[fe80::1%lo]:6379"},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        struct rl_addresses addresses;
        ck_assert(rl_resolve_numeric(known[i].host, 6379, &addresses));
        ck_assert_uint_eq(addresses.count, 1);
        ck_assert_str_eq(as_text(&addresses), known[i].text);
    }
    ck_assert_uint_eq(fake_dns_calls(), 0);
}

TEST(resolve, names_are_not_numeric)
{
    struct rl_addresses addresses;
    ck_assert(!rl_resolve_numeric("localhost", 6379, &addresses));
    ck_assert(!rl_resolve_numeric("1.2.3.4.example", 6379, &addresses));
    ck_assert(!rl_resolve_numeric("300.1.2.3", 6379, &addresses));
    ck_assert_uint_eq(fake_dns_calls(), 0);
}

TEST(resolve, name_is_looked_up_by_thread_that_wakes_us)
{
    expect_order("10.0.0.1", "10.0.0.1:6379");
    struct fake_dns_thread thread = fake_dns_last_thread();
    ck_assert_str_eq(thread.name, "redlock-dns");
    ck_assert(thread.blocks_signals);
    ck_assert(thread.detached);
    ck_assert_uint_ge(thread.stack_bytes, 256 * 1024);
    ck_assert_uint_le(thread.stack_bytes, 2 * 1024 * 1024);
}

TEST(resolve, starting_look_up_leaves_our_signal_mask_alone)
{
    sigset_t before, after;
    sigemptyset(&before);
    sigaddset(&before, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    expect_order("10.0.0.1", "10.0.0.1:6379");
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    ck_assert(sigismember(&after, SIGUSR1));
    ck_assert(!sigismember(&after, SIGUSR2));
    ck_assert(!sigismember(&after, SIGTERM));
}

TEST(resolve, families_take_turns)
{
    expect_order("::1 ::2 ::3 10.0.0.1 10.0.0.2",
                 "[::1]:6379 10.0.0.1:6379 [::2]:6379 10.0.0.2:6379 [::3]:6379");
    expect_order("10.0.0.1 10.0.0.2 ::1", "10.0.0.1:6379 [::1]:6379 10.0.0.2:6379");
    expect_order("10.0.0.1 ::1 10.0.0.2 ::2",
                 "10.0.0.1:6379 [::1]:6379 10.0.0.2:6379 [::2]:6379");
}

TEST(resolve, at_most_eight_addresses_are_kept_and_both_families_stay)
{
    ck_assert_int_eq(RL_ADDRESSES_MAX, 8);
    expect_order("::1 ::2 ::3 ::4 ::5 ::6 ::7 ::8 ::9 10.0.0.1",
                 "[::1]:6379 10.0.0.1:6379 [::2]:6379 [::3]:6379 [::4]:6379 [::5]:6379 "
                 "[::6]:6379 [::7]:6379");
    expect_order("10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4 10.0.0.5 10.0.0.6 10.0.0.7 10.0.0.8",
                 "10.0.0.1:6379 10.0.0.2:6379 10.0.0.3:6379 10.0.0.4:6379 10.0.0.5:6379 "
                 "10.0.0.6:6379 10.0.0.7:6379 10.0.0.8:6379");
}

TEST(resolve, address_given_twice_is_kept_once)
{
    expect_order("127.0.0.1 127.0.0.1 ::1 127.0.0.1", "127.0.0.1:6379 [::1]:6379");
}

TEST(resolve, failed_look_up_says_why)
{
    struct rl_addresses addresses;
    char why[128] = "";
    fake_dns_fail(EAI_NONAME);
    ck_assert_int_eq(look_up("no.example", &addresses, why, sizeof(why)), RL_LOOKUP_FAILED);
    ck_assert_str_eq(why, gai_strerror(EAI_NONAME));
    fake_dns_fail(EAI_SYSTEM);
    ck_assert_int_eq(look_up("no.example", &addresses, why, sizeof(why)), RL_LOOKUP_FAILED);
    ck_assert_str_eq(why, strerror(EACCES));
    fake_dns_answer(""); /* a success without an address */
    ck_assert_int_eq(look_up("no.example", &addresses, why, sizeof(why)), RL_LOOKUP_FAILED);
    ck_assert_str_eq(why, gai_strerror(EAI_NONAME));
}

TEST(resolve, unfinished_look_up_says_so_and_keeps_nobody)
{
    struct rl_addresses addresses;
    char why[128];
    fake_dns_answer("10.0.0.1");
    fake_dns_hold();
    struct rl_lookup *lookup = rl_lookup_start("slow.example", 6379, wake_fd);
    ck_assert_ptr_nonnull(lookup);
    ck_assert(wait_until(fake_dns_waiting() == 1, LIMIT_MS));
    ck_assert_uint_eq(fake_dns_threads(), 1);
    ck_assert_int_eq(rl_lookup_poll(lookup, &addresses, why, sizeof(why)), RL_LOOKUP_RUNNING);
    ck_assert(!woken());
    fake_dns_release();
    ck_assert(wait_until(woken(), LIMIT_MS));
    ck_assert_int_eq(rl_lookup_poll(lookup, &addresses, why, sizeof(why)), RL_LOOKUP_DONE);
    rl_lookup_abandon(lookup);
    ck_assert(wait_until(all_over(1), LIMIT_MS));
}

TEST(resolve, abandoned_look_up_ends_by_itself_and_touches_nothing)
{
    int ends[2];
    char byte;
    fake_dns_answer("10.0.0.1");
    fake_dns_hold();
    struct rl_lookup *lookup = rl_lookup_start("slow.example", 6379, wake_fd);
    ck_assert_ptr_nonnull(lookup);
    ck_assert(wait_until(fake_dns_waiting() == 1, LIMIT_MS));
    rl_lookup_abandon(lookup);

    /* The number of the wake descriptor now belongs to a pipe. */
    ck_assert_int_eq(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    ck_assert_int_eq(dup2(ends[1], wake_fd), wake_fd);
    fake_dns_release();
    ck_assert(wait_until(all_over(1), LIMIT_MS));
    ck_assert_int_eq(read(ends[0], &byte, 1), -1);
    ck_assert_int_eq(errno, EAGAIN);
}

TEST(resolve, failing_abandoned_look_up_ends_as_well)
{
    fake_dns_fail(EAI_AGAIN);
    fake_dns_hold();
    struct rl_lookup *lookup = rl_lookup_start("slow.example", 6379, wake_fd);
    ck_assert_ptr_nonnull(lookup);
    rl_lookup_abandon(lookup);
    rl_lookup_abandon(NULL);
    fake_dns_release();
    ck_assert(wait_until(all_over(1), LIMIT_MS));
    ck_assert(!woken());
}

/* Letting go races with the end of the look-up: whoever is last frees, and a wake either
 * comes before the letting go or never. */
TEST(resolve, letting_go_at_any_moment_is_safe)
{
    enum { ROUNDS = 300 };
    fake_dns_answer("10.0.0.1 ::1");
    for (int i = 0; i < ROUNDS; i++) {
        struct rl_addresses addresses;
        char why[128];
        struct rl_lookup *lookup = rl_lookup_start("quick.example", 6379, wake_fd);
        ck_assert_ptr_nonnull(lookup);
        for (int turns = i % 50; turns > 0; turns--)
            rl_lookup_poll(lookup, &addresses, why, sizeof(why));
        rl_lookup_abandon(lookup);
    }
    ck_assert(wait_until(all_over(ROUNDS), LIMIT_MS));
}

TEST(resolve, many_look_ups_run_side_by_side)
{
    enum { MANY = 16 };
    struct rl_lookup *lookup[MANY];
    struct rl_addresses addresses;
    char why[128];
    fake_dns_answer("10.0.0.1");
    fake_dns_hold();
    for (int i = 0; i < MANY; i++)
        ck_assert_ptr_nonnull(lookup[i] = rl_lookup_start("slow.example", 6379, wake_fd));
    ck_assert(wait_until(fake_dns_waiting() == MANY, LIMIT_MS));
    fake_dns_release();
    for (int i = 0; i < MANY; i++) {
        ck_assert(wait_until(rl_lookup_poll(lookup[i], &addresses, why, sizeof(why)) ==
                                 RL_LOOKUP_DONE,
                             LIMIT_MS));
        rl_lookup_abandon(lookup[i]);
    }
}

/* The child has no thread that could ever finish it, and must not wait for its lock. */
TEST(resolve, forked_child_frees_its_copy_without_waiting)
{
    int status;
    fake_dns_answer("10.0.0.1");
    fake_dns_hold();
    struct rl_lookup *lookup = rl_lookup_start("slow.example", 6379, wake_fd);
    ck_assert_ptr_nonnull(lookup);
    ck_assert(wait_until(fake_dns_waiting() == 1, LIMIT_MS));
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        alarm(5);
        rl_lookup_free_in_child(lookup);
        rl_lookup_free_in_child(NULL);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    fake_dns_release();
    ck_assert(wait_until(woken(), LIMIT_MS));
    rl_lookup_abandon(lookup);
    ck_assert(wait_until(all_over(1), LIMIT_MS));
}

CASE(resolve, .timeout_s = 30, .set_up = set_up)
