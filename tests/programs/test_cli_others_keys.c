/* test_cli_others_keys.c - keys of ours that another program has taken, and looks: neither is
 * written to. */
#include "config_auto.h"

#include "cli_rig.h"
#include "kinds/fencing.h"
#include "kinds/lists.h"
#include "kinds/marker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITS_TOKEN "5e1f6a2c"

static const char *const keys[] = {RL_MARKER_KEY, RL_QUARANTINE_KEY, RL_LISTS_KEY,
                                   RL_FENCING_KEY};
static struct masters *masters;
static struct program *program;

static void use_list(const char *settings)
{
    setenv("REDLOCK_NODES", masters_guarded_file(masters, settings), 1);
}

static void start(void)
{
    masters = masters_start(3, NULL);
}

static int run(const char *const argv[], char ret_out[8192])
{
    int status = program_run(NULL, argv, &program);
    snprintf(ret_out, 8192, "%s%s", program_out(program), program_err(program));
    return status;
}

#define RUN(out, ...) run(REDLOCK(__VA_ARGS__), out)

static const char *const told[] = {
    "libredlock:marker is another program's",
    "what stands in libredlock:quarantine is",
    "libredlock:lists",
    "libredlock:fencing is another program's",
};

/* Its locks of that name, as long as they are held: nobody has a vote, or a token, beside. */
TEST(keys, locks_named_as_our_keys_are_left_alone, .rows = 4)
{
    char out[8192];
    use_list("guard marker\nfencing strict\nconfig-agreement refuse\nmax-ttl 2s\n");
    if (_i != 0)
        ck_assert_int_eq(RUN(out, "init"), 0);
    for (unsigned i = 0; i < 3; i++) {
        master_do(masters, i, "DEL", keys[_i], NULL);
        master_do(masters, i, "SET", keys[_i], ITS_TOKEN, "PX", "60000", NULL);
    }
    ck_assert_int_eq(RUN(out, "lock", "--fenced", "--try", "--ttl", "1s", "name"), 69);
    (void)RUN(out, "status");
    ck_assert_msg(strstr(out, told[_i]) != NULL, "%s", out);
    ck_assert_msg(_i == 1 || strstr(out, "see whose") != NULL, "%s", out);
    ck_assert_int_ne(RUN(out, "init"), 0);
    ck_assert_int_ne(RUN(out, "init", "--replace", "1", "--yes"), 0);
    for (unsigned i = 0; i < 3; i++) {
        struct reply reply = master_do(masters, i, "GET", keys[_i], NULL);
        ck_assert_msg(strcmp(reply.text, ITS_TOKEN) == 0, "%s: %s", keys[_i], reply.text);
        ck_assert_int_gt(master_do(masters, i, "PTTL", keys[_i], NULL).number, 0);
    }
}

TEST(keys, look_at_lost_tokens_writes_nothing)
{
    char out[8192];
    use_list("guard off\nfencing strict\nmax-ttl 2s\n");
    (void)RUN(out, "status");
    ck_assert_msg(strstr(out, "not certified") != NULL, "%s", out);
    (void)RUN(out, "inspect", "name");
    ck_assert_uint_eq(masters_with(masters, RL_FENCING_KEY), 0);
    ck_assert_int_eq(RUN(out, "lock", "--fenced", "--try", "--ttl", "1s", "name"), 69);
    ck_assert_uint_eq(masters_with(masters, RL_FENCING_KEY), 3);
}

CASE(keys, .timeout_s = 90, .set_up = start)
