/* example_readme.c - the pieces of programs in docs/GUIDE.md, which example_test.sh takes out of
 * it, in a program that plays them on the masters of a node list: who is let in, and who is
 * not? */
#include <poll.h>
#include <redlock.h>
#include <stdio.h>
#include <stdlib.h>

static void begin_work(void *context, redlock_lock *lock)
{
    (void)context;
    redlock_release_async(lock, NULL, NULL);
}

static void stop_work(void *context, redlock_lock *lock)
{
    (void)context, (void)lock;
}

#include "readme_parts.c"

static redlock *ann, *bob;
static unsigned worked;

static void expect(int true, const char *what)
{
    if (true)
        return;
    printf("not so: %s\n", what);
    exit(1);
}

/* What comes of bob's try of a name, at once. */
static int bob_tries(const char *name, int kind)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock;
    options.kind = kind;
    int code = redlock_try(bob, name, &options, &lock);
    return code == REDLOCK_OK ? redlock_release(lock) : code;
}

static void work_of_writer(const redlock_lock *lock)
{
    expect(redlock_validity_ms(lock) > 0, "the writer has its lock");
    expect(bob_tries("prices", REDLOCK_READ) == REDLOCK_EHELD, "nobody reads beside a writer");
    worked++;
}

static void work_of_reader(const redlock_lock *lock)
{
    expect(redlock_validity_ms(lock) > 0, "the reader has its lock");
    expect(bob_tries("prices", REDLOCK_READ) == REDLOCK_OK, "others read beside a reader");
    expect(bob_tries("prices", REDLOCK_WRITE) == REDLOCK_EHELD,
           "nobody writes beside a reader");
    worked++;
}

static void work_of_two(const redlock_lock *lock)
{
    expect(redlock_validity_ms(lock) > 0, "both are locked");
    expect(bob_tries("shelf:2", REDLOCK_PLAIN) == REDLOCK_EHELD, "the one is");
    expect(bob_tries("shelf:7", REDLOCK_PLAIN) == REDLOCK_EHELD, "and the other");
    worked++;
}

int main(int argc, char **argv)
{
    redlock_error error = REDLOCK_ERROR_INIT;
    void (*forever)(redlock * client, void *context) = run; /* compiled, and not called */
    if (argc != 2 || !forever || open_with_log(argv[1], &error, &ann) != 0 ||
        redlock_open(argv[1], &error, &bob) != 0) {
        printf("%s\n", error.text);
        return 1;
    }
    expect(with_prices(ann, REDLOCK_WRITE, work_of_writer) == REDLOCK_OK, "it is written");
    expect(with_prices(ann, REDLOCK_READ, work_of_reader) == REDLOCK_OK, "it is read");
    expect(move_goods(ann, work_of_two) == REDLOCK_OK, "goods are moved");
    expect(bob_tries("prices", REDLOCK_WRITE) == REDLOCK_OK, "and all is free again");
    expect(worked == 3, "all of them have worked");
    redlock_close(ann);
    redlock_close(bob);
    printf("all of it\n");
    return 0;
}
