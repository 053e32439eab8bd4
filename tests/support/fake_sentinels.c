/* fake_sentinels.c - see fake_sentinels.h. */
#include "config_auto.h"

#include "fake_sentinels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake *fake_sentinels[FAKE_SENTINELS];

struct said {
    char id[64], master[512], address[64];
    struct fake_rule rule[3];
};

/* A rule's texts must stay until the Sentinels have ended. */
static struct said *all_said[64];
static unsigned said_count;

static struct said *new_said(void)
{
    struct said *said = calloc(1, sizeof(*said));
    ck_assert_ptr_nonnull(said);
    ck_assert_uint_lt(said_count, sizeof(all_said) / sizeof(all_said[0]));
    all_said[said_count++] = said;
    return said;
}

static size_t put(char *text, size_t len, size_t size, const char *word)
{
    return len + (size_t)snprintf(text + len, size - len, "$%zu\r\n%s\r\n", strlen(word), word);
}

static void rules(unsigned number, struct said *said)
{
    said->rule[0] = (struct fake_rule){.match = "SENTINEL MYID", .reply = said->id};
    said->rule[1] = (struct fake_rule){.match = "SENTINEL MASTER *", .reply = said->master};
    said->rule[2] =
        (struct fake_rule){.match = "SENTINEL GET-MASTER-ADDR-BY-NAME *", .reply = said->address};
    for (unsigned i = 0; i < 3; i++)
        fake_rule(fake_sentinels[number], &said->rule[i]);
}

void fake_sentinel_names(unsigned number, int port, unsigned term)
{
    struct said *said = new_said();
    char id[41], digits[16], epoch[16];
    const size_t size = sizeof(said->master);
    snprintf(id, sizeof(id), "%040u", number + 1);
    snprintf(digits, sizeof(digits), "%d", port);
    snprintf(epoch, sizeof(epoch), "%u", term);
    put(said->id, 0, sizeof(said->id), id);
    const char *const words[] = {"name", "locks", "ip",    "127.0.0.1", "port",         digits,
                                 "runid", "",     "flags", "master",    "config-epoch", epoch};
    size_t len = (size_t)snprintf(said->master, size, "*12\r\n");
    for (unsigned i = 0; i < 12; i++)
        len = put(said->master, len, size, words[i]);
    len = (size_t)snprintf(said->address, sizeof(said->address), "*2\r\n");
    put(said->address, put(said->address, len, sizeof(said->address), "127.0.0.1"),
        sizeof(said->address), digits);
    rules(number, said);
}

void fake_sentinels_start(char *ret_url, size_t size)
{
    size_t len = (size_t)snprintf(ret_url, size, "redis+sentinel://");
    for (unsigned i = 0; i < FAKE_SENTINELS; i++) {
        fake_sentinels[i] = fake_start(false);
        fake_says_also(fake_sentinels[i], "redis_mode:sentinel\r\n");
        len += (size_t)snprintf(ret_url + len, size - len, "%s127.0.0.1:%d", i ? "," : "",
                                fake_endpoint(fake_sentinels[i])->port);
        ck_assert_uint_lt(len, size);
    }
}

void fake_sentinels_stop(void)
{
    for (unsigned i = 0; i < FAKE_SENTINELS; i++)
        fake_stop(fake_sentinels[i]);
    while (said_count > 0)
        free(all_said[--said_count]);
}
