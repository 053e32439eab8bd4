/* test_sim_leaf.c - what simulated processes ask their system for: names, random bytes, and the
 * addresses of hosts. */
#include "config_auto.h"

#include "sim_scene.h"

#include "base/clock.h"
#include "base/entropy.h"
#include "net/resolve.h"

#include <arpa/inet.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ---- names and random bytes ----------------------------------------------------------- */

/* What one process is told; kept to be compared. */
static struct told {
    char uuid[37], boot_id[37], host[64];
    unsigned char bytes[24];
    pid_t pid;
} told[2];

static void *ask_around(void *argument)
{
    struct told *mine = &told[sim_proc()->index];
    (void)argument;
    rl_entropy_uuid(mine->uuid);
    ck_assert_int_eq(rl_entropy_bytes(mine->bytes, sizeof(mine->bytes)), 0);
    ck_assert_int_eq(rl_clock_boot_id(mine->boot_id), 0);
    ck_assert_int_eq(gethostname(mine->host, sizeof(mine->host)), 0);
    ck_assert_int_lt(gethostname(mine->host, 3), 0);
    mine->pid = getpid();
    return NULL;
}

static void ask_both(uint64_t seed)
{
    memset(told, 0, sizeof(told));
    scene_begin(seed);
    scene_start(scene.proc, ask_around);
    scene_start(scene.other, ask_around);
    scene_run_to(1);
    sim_procs_end();
    sim_end();
}

TEST(leaf, names_and_random_bytes_are_seeds)
{
    struct told before[2];
    ask_both(5);
    ck_assert_str_ne(told[0].uuid, told[1].uuid);
    ck_assert_str_ne(told[0].boot_id, told[1].boot_id);
    ck_assert_int_ne(told[0].pid, told[1].pid);
    ck_assert_mem_ne(told[0].bytes, told[1].bytes, sizeof(told[0].bytes));
    ck_assert_int_eq(told[0].uuid[14], '4');
    memcpy(before, told, sizeof(told));
    ask_both(5);
    ck_assert_mem_eq(before, told, sizeof(told));
    ask_both(6);
    ck_assert_str_ne(before[0].uuid, told[0].uuid);
    ck_assert_mem_ne(before[0].bytes, told[0].bytes, sizeof(told[0].bytes));
}

/* ---- look-ups ------------------------------------------------------------------------- */

struct question {
    const char *host;
    bool found, abandoned;
    int64_t patience_ns; /* before it is abandoned */
};

static void *look_it_up(void *argument)
{
    const struct question *question = argument;
    struct rl_addresses addresses = {0};
    char why[64] = "";
    struct pollfd bell = {.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .events = POLLIN};
    struct rl_lookup *lookup = rl_lookup_start(question->host, 6380, bell.fd);
    ck_assert_ptr_nonnull(lookup);
    if (question->abandoned) {
        scene_sleep_ns(question->patience_ns);
    } else {
        ck_assert_int_eq(rl_lookup_poll(lookup, &addresses, why, sizeof(why)),
                         RL_LOOKUP_RUNNING);
        ck_assert_int_eq(poll(&bell, 1, -1), 1);
        enum rl_lookup_state state = rl_lookup_poll(lookup, &addresses, why, sizeof(why));
        ck_assert_int_eq(state, question->found ? RL_LOOKUP_DONE : RL_LOOKUP_FAILED);
        ck_assert_uint_eq(why[0] == '\0', question->found);
    }
    if (question->found) {
        ck_assert_uint_eq(addresses.count, 1);
        ck_assert_uint_eq(ntohl(addresses.list[0].as.v4.sin_addr.s_addr), 0x0a000003);
        ck_assert_uint_eq(ntohs(addresses.list[0].as.v4.sin_port), 6380);
    }
    rl_lookup_abandon(lookup);
    close(bell.fd);
    scene.at_ns[0] = sim_now_ns();
    return NULL;
}

/* How long it took. */
static int64_t look_up(const struct question *question, uint64_t seed, unsigned fail_ppm)
{
    struct question copy = *question;
    scene_begin(seed);
    scene.proc->rates.lookup_max_ns = SIM_S;
    scene.proc->rates.lookup_fail_ppm = fail_ppm;
    scene.proc->rates.switch_ppm = 100000;
    sim_fiber_new(scene.proc, look_it_up, &copy);
    ck_assert(sim_run_while(NULL, NULL, SIM_NEVER - 1));
    bool slow = scene.at_ns[0] > SIM_LOOKUP_NS, fails = fail_ppm > 0;
    ck_assert(question->abandoned || (scene.proc->felt.lookups > 0) == (slow || fails));
    sim_procs_end();
    ck_assert(question->found || !question->abandoned || sim_now_ns() == scene.at_ns[0]);
    sim_end();
    return scene.at_ns[0];
}

TEST(leaf, names_are_looked_up_and_some_are_not_found)
{
    const struct question known = {.host = "n3.sim", .found = true};
    const struct question failed = {.host = "n3.sim"};
    const struct question given_up = {
        .host = "n3.sim", .abandoned = true, .patience_ns = SIM_US};
    static const char *const unknown[] = {"n0.sim", "n99.sim", "n3.simm", "n3", "x", ""};
    int64_t slowest_ns = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        int64_t took_ns = look_up(&known, seed, 0);
        slowest_ns = took_ns > slowest_ns ? took_ns : slowest_ns;
        look_up(&failed, seed, 1000000);
        ck_assert_int_eq(look_up(&given_up, seed, 0), SIM_US);
    }
    ck_assert(slowest_ns > 100 * SIM_MS && slowest_ns <= SIM_S);
    for (unsigned i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        look_up(&(struct question){.host = unknown[i]}, i, 0);
}

/* The answer's thread stands in the middle of its last call when nobody wants it any more. */
TEST(leaf, descriptor_is_not_written_to_once_its_look_up_is_abandoned)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct question question = {.host = "n3.sim", .abandoned = true};
        scene_begin(seed);
        scene.proc->rates.stall_ppm = 300000;
        scene.proc->rates.stall_max_ns = SIM_MS;
        question.patience_ns = sim_scale(1000, SIM_MS);
        sim_fiber_new(scene.proc, look_it_up, &question);
        ck_assert(sim_run_while(NULL, NULL, SIM_NEVER - 1));
        sim_procs_end();
        sim_end();
    }
}
