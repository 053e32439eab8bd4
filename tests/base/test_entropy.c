/* test_entropy.c - random bytes, or an error: never anything in between. */
#include "config_auto.h"

#include "base/entropy.h"
#include "suite.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <redlock.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* Stand-ins for the kernel's source and for OpenSSL's. */
static enum { KERNEL_GIVES, KERNEL_GIVES_PIECES, KERNEL_REFUSES } kernel;
static unsigned kernel_calls;
static bool openssl_is_broken;
static int openssl_answer;
static unsigned openssl_calls;

ssize_t getrandom(void *ret_bytes, size_t size, unsigned flags)
{
    ssize_t (*real)(void *, size_t, unsigned);
    kernel_calls++;
    if (kernel == KERNEL_REFUSES || (kernel == KERNEL_GIVES_PIECES && kernel_calls % 2)) {
        errno = kernel == KERNEL_REFUSES ? ENOSYS : EINTR;
        return -1;
    }
    *(void **)&real = dlsym(RTLD_NEXT, "getrandom");
    return real(ret_bytes, kernel == KERNEL_GIVES_PIECES && size > 5 ? 5 : size, flags);
}

int RAND_bytes(unsigned char *ret_bytes, int size)
{
    int (*real)(unsigned char *, int);
    openssl_calls++;
    if (openssl_is_broken) {
        ERR_put_error(ERR_LIB_RAND, 0, 42, __FILE__, __LINE__);
        return openssl_answer;
    }
    *(void **)&real = dlsym(RTLD_NEXT, "RAND_bytes");
    return real(ret_bytes, size);
}

static void break_both(int answer)
{
    kernel = KERNEL_REFUSES;
    openssl_is_broken = true;
    openssl_answer = answer;
}

/* The sources that all other tests are to pass with: the kernel, and OpenSSL in its place. */
static void choose(int source)
{
    kernel = source == 0 ? KERNEL_GIVES : KERNEL_REFUSES;
}

TEST(entropy, bytes_are_filled_and_differ, .rows = 2)
{
    unsigned char first[32] = {0}, second[32] = {0};
    unsigned zeros = 0;
    choose(_i);
    ck_assert_int_eq(rl_entropy_bytes(first, sizeof(first)), 0);
    ck_assert_int_eq(rl_entropy_bytes(second, sizeof(second)), 0);
    ck_assert_int_ne(memcmp(first, second, sizeof(first)), 0);
    for (size_t i = 0; i < sizeof(first); i++)
        zeros += first[i] == 0;
    ck_assert_uint_le(zeros, 8);
}

TEST(entropy, only_bytes_asked_for_are_written, .rows = 2)
{
    unsigned char bytes[18];
    memset(bytes, 0xa5, sizeof(bytes));
    choose(_i);
    ck_assert_int_eq(rl_entropy_bytes(bytes + 1, 16), 0);
    ck_assert_uint_eq(bytes[0], 0xa5);
    ck_assert_uint_eq(bytes[17], 0xa5);
}

/* OpenSSL's start costs milliseconds. */
TEST(entropy, openssl_is_asked_only_where_kernel_refuses, .rows = 2)
{
    unsigned char bytes[16];
    choose(_i);
    ck_assert_int_eq(rl_entropy_bytes(bytes, sizeof(bytes)), 0);
    ck_assert_uint_eq(openssl_calls, (unsigned)_i);
}

/* Signals and short answers leave no byte as it was. */
TEST(entropy, interrupted_kernel_is_asked_again_for_rest)
{
    unsigned char bytes[4096];
    memset(bytes, 0, sizeof(bytes));
    kernel = KERNEL_GIVES_PIECES;
    ck_assert_int_eq(rl_entropy_bytes(bytes, sizeof(bytes)), 0);
    ck_assert_uint_eq(openssl_calls, 0);
    for (size_t i = 0; i + 8 <= sizeof(bytes); i += 8)
        ck_assert_int_ne(memcmp(bytes + i, (const char[8]){0}, 8), 0);
}

TEST(entropy, no_bytes_is_error, .first = -1, .rows = 1)
{
    unsigned char bytes[16];
    break_both(_i);
    ck_assert_int_eq(rl_entropy_bytes(bytes, sizeof(bytes)), REDLOCK_ERANDOM);
}

TEST(entropy, failure_leaves_applications_errors_alone)
{
    unsigned char bytes[16];
    break_both(0);
    ERR_clear_error();
    rl_entropy_bytes(bytes, sizeof(bytes));
    ck_assert_uint_eq(ERR_peek_error(), 0);
    ERR_put_error(ERR_LIB_USER, 0, 17, __FILE__, __LINE__);
    rl_entropy_bytes(bytes, sizeof(bytes));
    ck_assert_int_eq(ERR_GET_REASON(ERR_get_error()), 17);
    ck_assert_uint_eq(ERR_peek_error(), 0);
}

/* The child's bytes must not be what the parent's would be: a token would be used twice. */
TEST(entropy, forked_child_has_bytes_of_its_own, .rows = 2)
{
    unsigned char bytes[16], theirs[16];
    int ends[2];
    choose(_i);
    ck_assert_int_eq(rl_entropy_bytes(bytes, sizeof(bytes)), 0); /* seeded before the fork */
    ck_assert_int_eq(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (rl_entropy_bytes(bytes, sizeof(bytes)) != 0)
            _exit(1);
        _exit(write(ends[1], bytes, sizeof(bytes)) == sizeof(bytes) ? 0 : 1);
    }
    ck_assert_int_gt(pid, 0);
    ck_assert_int_eq(read(ends[0], theirs, sizeof(theirs)), sizeof(theirs));
    ck_assert_int_eq(rl_entropy_bytes(bytes, sizeof(bytes)), 0);
    ck_assert_int_ne(memcmp(bytes, theirs, sizeof(bytes)), 0);
}

TEST(entropy, identity_is_random_uuid_in_lower_case)
{
    char first[37], second[37];
    rl_entropy_uuid(first);
    rl_entropy_uuid(second);
    ck_assert_str_ne(first, second);
    ck_assert_uint_eq(strlen(first), 36);
    for (size_t i = 0; i < 36; i++) {
        if (i == 8 || i == 13 || i == 18 || i == 23)
            ck_assert_int_eq(first[i], '-');
        else
            ck_assert(isxdigit((unsigned char)first[i]) && !isupper((unsigned char)first[i]));
    }
    ck_assert_int_eq(first[14], '4'); /* version 4: random */
}
