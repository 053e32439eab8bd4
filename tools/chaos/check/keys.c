/* keys.c - see keys.h. One process for each master asks it again and again for the values under
 * all locks' names. A key is a value that was seen under a name in successive looks. Its time
 * runs from right after the first look to right before the last, so it is rather too short than
 * too long. Only keys that stay are kept, so the memory holds more than a run can have. */
#include "config_auto.h"

#include "chaos/check/keys.h"

#include "chaos/faults/fault.h"
#include "base/clock.h"
#include "base/limits.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVERY_MS 20
#define PATIENCE_MS 250 /* of a master that is stopped nothing is learnt by waiting */
#define STAYS_MAX 65536

struct node_keys {
    _Atomic size_t count;
    struct chaos_stay stay[STAYS_MAX];
    struct chaos_stall_log silences;
};

struct chaos_keys {
    unsigned nodes;
    pid_t pid[REDLOCK_NODES_MAX];
    struct node_keys *of; /* shared with these processes */
};

/* One process: the last value that it saw under each name. */
struct look {
    struct chaos_run *run;
    struct node_keys *mine;
    struct server_at at;
    struct server_talk talk;
    struct chaos_stay now[CHAOS_NAMES_MAX];
    struct chaos_stay *kept[CHAOS_NAMES_MAX]; /* where it is written down, once it has stayed */
    char name[CHAOS_NAMES_MAX][CHAOS_LOCK_NAME_MAX];
};

uint64_t chaos_key_of(const char *value, size_t len)
{
    uint64_t key = UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = 0; i < len; i++)
        key = (key ^ (unsigned char)value[i]) * UINT64_C(1099511628211);
    return key != 0 ? key : 1;
}

/* ---- a master's process ---------------------------------------------------------------- */

/* The value is a reservation for a waiter, so nobody holds the key. */
static bool is_reserved(const char *value, size_t len)
{
    static const char kept[] = "redlock:next:";
    return len >= sizeof(kept) - 1 && memcmp(value, kept, sizeof(kept) - 1) == 0;
}

static void saw(struct look *look, unsigned name, uint64_t key, int64_t asked_ns)
{
    struct chaos_stay *now = &look->now[name];
    int64_t long_ns = look->run->options->ttl_ms * RL_NS_PER_MS / 2;
    if (key == 0 || key != now->key) {
        now->key = key;
        now->from_ns = now->to_ns = chaos_now_ns();
        look->kept[name] = NULL;
        return;
    }
    now->to_ns = asked_ns;
    size_t count = atomic_load(&look->mine->count);
    if (look->kept[name] == NULL && now->to_ns - now->from_ns > long_ns && count < STAYS_MAX) {
        look->kept[name] = &look->mine->stay[count];
        *look->kept[name] = *now;
        atomic_store(&look->mine->count, count + 1);
    }
    if (look->kept[name] != NULL)
        look->kept[name]->to_ns = now->to_ns;
}

/* The values of all names, as the master wrote them: "$40\r\n...\r\n$-1\r\n" after the count.
 */
static void read_values(struct look *look, const char *text, int64_t asked_ns)
{
    const char *at = strchr(text, '\n'), *end = text + strlen(text);
    for (unsigned name = 0; at != NULL && name < look->run->options->names; name++) {
        long len = at[1] == '$' ? strtol(at + 2, NULL, 10) : -1;
        const char *value = strchr(at + 1, '\n');
        if (value == NULL || (len >= 0 && end - value < len + 2))
            return; /* cut short */
        value++;
        bool there = len >= 0 && !is_reserved(value, (size_t)len);
        saw(look, name, there ? chaos_key_of(value, (size_t)len) : 0, asked_ns);
        at = len >= 0 ? value + len + 1 : value - 1;
    }
}

/* False: it may not be asked. */
static bool look_once(struct look *look)
{
    const char *ask[CHAOS_NAMES_MAX + 1] = {"MGET"};
    unsigned names = look->run->options->names;
    char text[CHAOS_NAMES_MAX * 160];
    for (unsigned i = 0; i < names; i++)
        ask[i + 1] = look->name[i];
    if (look->talk.fd < 0 && !server_talk_open_within(&look->talk, &look->at, PATIENCE_MS)) {
        look->talk.fd = -1;
        return true;
    }
    int64_t asked_ns = chaos_now_ns();
    char type = server_talk_ask(&look->talk, names + 1, ask, text, sizeof(text));
    if (type == '*')
        read_values(look, text, asked_ns);
    else if (type == 0)
        server_talk_close(&look->talk);
    if (type == 0)
        look->talk.fd = -1;
    return type != '-' || strncmp(text, "NOPERM", 6) != 0;
}

static _Noreturn void be_looking(struct chaos_run *run, struct node_keys *mine, unsigned node)
{
    static struct look look;
    static const int usual[] = {SIGHUP, SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        signal(usual[i], SIG_IGN); /* our parent ends us */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != run->record->parent)
        _exit(1);
    look = (struct look){.run = run, .mine = mine};
    look.talk.fd = -1;
    for (unsigned i = 0; i < run->options->names; i++) {
        chaos_record_lock_name(run->record, i, look.name[i]);
        look.now[i].name = (uint16_t)i;
        look.now[i].node = (uint16_t)node;
    }
    if (!chaos_master_at(run, node, &look.at))
        _exit(0);
    for (bool asks = true; asks;) {
        int64_t asked_ns = rl_clock_now_ns();
        asks = look_once(&look);
        chaos_stall_put(&mine->silences, CHAOS_STALLED_MASTER, node, asked_ns,
                        rl_clock_now_ns());
        (void)poll(NULL, 0, EVERY_MS);
    }
    _exit(0);
}

/* ---- all of them ----------------------------------------------------------------------- */

static size_t size_of(const struct chaos_keys *keys)
{
    return keys->nodes * sizeof(struct node_keys);
}

struct chaos_keys *chaos_keys_start(struct chaos_run *run, char *why, size_t why_size)
{
    static struct chaos_keys only;
    struct chaos_keys *keys = &only;
    enum chaos_lock lock = run->options->lock;
    *keys = (struct chaos_keys){.nodes = run->nodes};
    if (run->options->client_cmd != NULL || (lock != CHAOS_PLAIN && lock != CHAOS_SEVERAL))
        return keys;
    void *memory = mmap(NULL, size_of(keys), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    keys->of = memory != MAP_FAILED ? memory : NULL;
    fflush(NULL);
    for (unsigned i = 0; keys->of != NULL && i < run->nodes; i++) {
        keys->pid[i] = fork();
        if (keys->pid[i] == 0)
            be_looking(run, &keys->of[i], i);
        if (keys->pid[i] > 0)
            continue;
        keys->pid[i] = 0;
        snprintf(why, why_size, "cannot start a process: %s", strerror(errno));
        chaos_keys_free(keys);
        return NULL;
    }
    if (keys->of == NULL)
        snprintf(why, why_size, "no memory for what masters have: %s", strerror(errno));
    return keys->of != NULL ? keys : NULL;
}

void chaos_keys_stop(struct chaos_keys *keys)
{
    for (unsigned i = 0; keys != NULL && i < keys->nodes; i++) {
        if (keys->pid[i] == 0)
            continue;
        kill(keys->pid[i], SIGKILL);
        while (waitpid(keys->pid[i], NULL, 0) < 0 && errno == EINTR)
            continue;
        keys->pid[i] = 0;
    }
}

struct chaos_stay *chaos_keys_stays(const struct chaos_keys *keys, size_t *ret_count)
{
    size_t total = 0;
    for (unsigned i = 0; keys->of != NULL && i < keys->nodes; i++)
        total += atomic_load(&keys->of[i].count);
    struct chaos_stay *stays = malloc((total > 0 ? total : 1) * sizeof(*stays));
    *ret_count = stays != NULL ? total : 0;
    size_t at = 0;
    for (unsigned i = 0; stays != NULL && at < total; i++) {
        size_t count = atomic_load(&keys->of[i].count);
        memcpy(stays + at, keys->of[i].stay, count * sizeof(*stays));
        at += count;
    }
    return stays;
}

const struct chaos_stall_log *chaos_keys_silences(const struct chaos_keys *keys, unsigned node)
{
    return keys->of != NULL ? &keys->of[node].silences : NULL;
}

void chaos_keys_free(struct chaos_keys *keys)
{
    chaos_keys_stop(keys);
    if (keys != NULL && keys->of != NULL)
        munmap(keys->of, size_of(keys));
}
