/* tags: unsanitized */
/* What is left of a password in the process's memory once it is not needed: nothing, in freed
 * memory and on the stack. */
#include "config_auto.h"

#include "alloc.h"
#include "conf.h"
#include "net/session.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SECRET "hunter2-Xyzzy-plugh"
#define STACK_BYTES ((size_t)1 << 20)

static void set_up(void)
{
    conf_set_up();
    alloc_watch_for(SECRET, strlen(SECRET));
}

/* What the work came to: told, and not asserted there, as that would write over the stack. */
static int result;

/* Run `work` on a stack of its own, which nobody has written to; then look at that. */
static void expect_clean(void *(*work)(void *), int expected)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (!alloc_works())
        return; /* a sanitizer's allocator, or valgrind's */
    void *stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(stack, MAP_FAILED);
    pthread_attr_init(&attributes);
    ck_assert_int_eq(pthread_attr_setstack(&attributes, stack, STACK_BYTES), 0);
    ck_assert_int_eq(pthread_create(&thread, &attributes, work, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(result, expected);
    pthread_attr_destroy(&attributes);
    ck_assert_msg(!memmem(stack, STACK_BYTES, SECRET, strlen(SECRET)), "it is on the stack");
    munmap(stack, STACK_BYTES);
    ck_assert_int_eq(alloc_left_behind(), 0);
}

/* ---- a node list ------------------------------------------------------------------------ */

static void *load_and_free(void *unused)
{
    (void)unused;
    result = conf_load("n.conf");
    rl_config_free(&conf_config);
    return NULL;
}

TEST(memory, node_list_leaves_no_password_in_memory)
{
    conf_write_text("n.conf", "node redis://locks:" SECRET "@a\n", 0600);
    expect_clean(load_and_free, 0);
}

/* The text that a variable's value was put into is no longer needed once it is read. */
TEST(memory, node_list_with_a_variable_leaves_none_either)
{
    conf_write_text("n.conf", "node redis://locks:${RL_TEST_SECRET}@a\n", 0600);
    setenv("RL_TEST_SECRET", SECRET, 1);
    expect_clean(load_and_free, 0);
    conf_write_text("n.conf", "node redis://locks:${RL_TEST_SECRET}@a:x\n", 0600);
    expect_clean(load_and_free, REDLOCK_ECONFIG);
}

static void *load_in_vain(void *unused)
{
    (void)unused;
    result = conf_load("n.conf");
    return NULL;
}

TEST(memory, node_list_that_is_refused_leaves_none_either)
{
    static const char *const lists[] = {"node redis://locks:" SECRET "%00@a\n",
                                        "node redis://locks:" SECRET "@a:x\n",
                                        "node redis://locks:" SECRET "@a\nwhat\n"};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        conf_write_text("n.conf", lists[i], 0600);
        expect_clean(load_in_vain, REDLOCK_ECONFIG);
    }
}

/* ---- a login ---------------------------------------------------------------------------- */

static struct rl_node_config node;
static char bytes[RL_LOGIN_MAX], password[RL_PASSWORD_MAX + 1];
static struct rl_mask mask;

static void *read_secret(void *unused)
{
    char why[160];
    (void)unused;
    result = rl_node_password(&node, password, why, sizeof(why));
    return NULL;
}

static void *put_login(void *unused)
{
    char why[160];
    struct rl_out out;
    (void)unused;
    rl_out_init(&out, bytes, sizeof(bytes));
    result = rl_login_put(&out, &node, &mask, why, sizeof(why));
    return NULL;
}

TEST(memory, password_file_is_on_no_stack_once_read)
{
    conf_write_text("secret", SECRET "\n", 0600);
    node = (struct rl_node_config){.password_file = (char *)(uintptr_t) "secret"};
    expect_clean(read_secret, (int)strlen(SECRET));
    ck_assert_str_eq(password, SECRET);
}

TEST(memory, login_is_where_it_was_put_and_nowhere_else)
{
    conf_write_text("secret", SECRET "\n", 0600);
    node = (struct rl_node_config){.password_file = (char *)(uintptr_t) "secret"};
    expect_clean(put_login, 0);
    ck_assert_ptr_nonnull(memmem(bytes, sizeof(bytes), SECRET, strlen(SECRET)));
}

CASE(memory, .set_up = set_up)
