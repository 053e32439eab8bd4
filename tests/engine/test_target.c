/* test_target.c - a kept target: its bytes are its own, whatever becomes of the caller's, and
 * stay as they were when there is no memory for longer ones. */
#include "config_auto.h"

#include "node/target.h"

#include "alloc.h"
#include "redlock.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

static struct rl_target target_of(char *name, char *owner)
{
    return (struct rl_target){
        .name = name, .name_len = strlen(name), .owner = owner, .owner_len = strlen(owner)};
}

TEST(target, kept_target_has_bytes_of_its_own)
{
    char name[] = "orders:42", owner[] = "ann";
    struct rl_target_bytes bytes = {0};
    struct rl_target target = target_of(name, owner), kept;
    ck_assert_int_eq(rl_target_keep(&kept, &bytes, &target), 0);
    memset(name, '-', sizeof(name));
    memset(owner, '-', sizeof(owner));
    ck_assert_str_eq(kept.name, "orders:42");
    ck_assert_str_eq(kept.owner, "ann");
    ck_assert_uint_eq(kept.name_len, 9);
    ck_assert_uint_eq(kept.owner_len, 3);
    free(bytes.at);
}

TEST(target, bytes_are_used_again_and_grow)
{
    struct rl_target_bytes bytes = {0};
    struct rl_target kept;
    struct rl_target targets[] = {target_of("a", ""), target_of("", "b"),
                                  target_of("longer", "and longer"), target_of("c", "d")};
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        ck_assert_int_eq(rl_target_keep(&kept, &bytes, &targets[i]), 0);
        ck_assert_str_eq(kept.name, targets[i].name);
        ck_assert_str_eq(kept.owner, targets[i].owner);
    }
    ck_assert_uint_eq(bytes.size, strlen("longer") + strlen("and longer") + 2);
    free(bytes.at);
}

TEST(target, without_memory_it_stays_as_it_was)
{
    struct rl_target_bytes bytes = {0};
    struct rl_target first = target_of("a", "b"), longer = target_of("longer", "b"), kept;
    if (!alloc_works())
        return;
    ck_assert_int_eq(rl_target_keep(&kept, &bytes, &first), 0);
    alloc_fail_at(1);
    int result = rl_target_keep(&kept, &bytes, &longer);
    alloc_fail_at(0);
    ck_assert_int_eq(result, REDLOCK_ENOMEM);
    ck_assert_str_eq(kept.name, "a");
    ck_assert_str_eq(kept.owner, "b");
    alloc_fail_at(1);
    result = rl_target_keep(&kept, &bytes, &first); /* there is room */
    long allocated = alloc_count();
    alloc_fail_at(0);
    ck_assert_int_eq(result, 0);
    ck_assert_int_eq(allocated, 0);
    free(bytes.at);
}
