/* tags: valgrind source */
/* fuzz_sub.c - any bytes as a master's side of a subscription: the real subscriber, connection
 * and reader over a link made of the input (input_link.h). Whatever comes, nobody crashes,
 * memory is bounded, coming and going are told in turns, and nobody is woken who does not
 * listen: on the client's own channel, and on others that lines come and go with.
 *
 * The input is a list of steps, as fuzz_reply.c's. With a fuzzer: see fuzz.sh. */
#include "config_auto.h"

#include "base/clock.h"
#include "fuzz.h"
#include "input_link.h"
#include "node/subscriber.h"

#include <string.h>
#include <sys/epoll.h>

#define UUID "0f0e0d0c-0b0a-4908-8706-050403020100"
#define CHANNEL RL_WAKE_PREFIX UUID

static bool listens; /* as the subscriber told */

static void on_woken(void *owner, struct rl_node *node, uint64_t seq, int64_t now_ns)
{
    (void)owner, (void)node, (void)seq, (void)now_ns;
    REQUIRE(listens);
}

static void on_changed(void *owner, struct rl_node *node, bool now_listens, int64_t now_ns)
{
    (void)owner, (void)node, (void)now_ns;
    REQUIRE(listens != now_listens);
    listens = now_listens;
}

/* ---- other channels --------------------------------------------------------------------- */

enum { EARS = 4 };
static struct rl_channels channels;
static struct rl_channel *taken[EARS]; /* by a line; NULL: by none */

static void on_ear(void *owner, struct rl_node *node, struct rl_channel *channel,
                   int64_t now_ns)
{
    (void)owner, (void)now_ns;
    REQUIRE(node->index == 0 && channel->users > 0 && rl_channel_listening(channel) == 1);
}

static const struct rl_sub_events events = {
    .woken = on_woken,
    .changed = on_changed,
    .log = input_log,
    .message = on_ear,
    .subscribed = on_ear,
};

/* A line comes, or the last one goes. */
static void turn_ear(struct rl_sub *sub, unsigned which, int64_t now_ns)
{
    char text[] = "channel-0";
    text[8] = (char)('0' + which);
    struct rl_channel *channel = taken[which];
    if (channel)
        rl_channel_unref(&channels, channel);
    else if (!(channel = rl_channel_ref(&channels, text, strlen(text))))
        return;
    taken[which] = taken[which] ? NULL : channel;
    rl_sub_sync(sub, channel, now_ns);
    rl_channel_free_if_idle(&channels, channel);
}

/* What masters have said is forgotten with the connection, and nothing is kept for nobody. */
static void require_ears(const struct rl_sub *sub)
{
    bool talks = sub->mode == RL_SUB_SUBSCRIBING || sub->mode == RL_SUB_UP;
    REQUIRE(channels.count <= EARS);
    for (size_t i = 0; i < channels.count; i++) {
        const struct rl_channel *channel = channels.all[i];
        REQUIRE(talks || (channel->pending | channel->confirmed | channel->denied) == 0);
        REQUIRE(channel->users > 0 || channel->pending || channel->confirmed);
        REQUIRE(channel->users <= 1);
    }
}

static void receive(struct rl_sub *sub, const void *bytes, size_t len, int64_t now_ns)
{
    if (!input_link_give(sub->connection.link, bytes, len))
        return;
    sub->tag.ready(&sub->tag, EPOLLIN, now_ns);
    input_link_forget(sub->connection.link);
}

/* What lets the subscriber go on, or a message, or a pong. */
static void say_well(struct rl_sub *sub, uint8_t what, int64_t now_ns)
{
    static const char confirmed[] = "*3\r\n$9\r\nsubscribe\r\n$49\r\n" CHANNEL "\r\n:1\r\n";
    static const char message[] =
        "*3\r\n$7\r\nmessage\r\n$49\r\n" CHANNEL "\r\n$38\r\n" UUID ":7\r\n";
    static const char *const words[] = {"+OK\r\n", confirmed, message,
                                        "*2\r\n$4\r\npong\r\n$0\r\n\r\n"};
    if (what >= 128) { /* it repeats what it was told at login */
        char bytes[128];
        size_t len = input_echo(bytes, sizeof(bytes), what % 2 ? "ERR" : "NOPERM", what / 2U);
        receive(sub, bytes, len, now_ns);
        return;
    }
    const char *word = words[what % 4];
    receive(sub, word, strlen(word), now_ns);
}

/* The same about another channel; or a line comes or goes. */
static void say_of_ear(struct rl_sub *sub, uint8_t what, int64_t now_ns)
{
    static const char *const words[] = {
        "*3\r\n$9\r\nsubscribe\r\n$9\r\nchannel-%c\r\n:2\r\n",
        "*3\r\n$11\r\nunsubscribe\r\n$9\r\nchannel-%c\r\n:1\r\n",
        "*3\r\n$7\r\nmessage\r\n$9\r\nchannel-%c\r\n$1\r\n0\r\n",
        "-NOPERM channel-%c\r\n",
    };
    char word[80];
    unsigned which = what % EARS, action = what / EARS % 8;
    if (action >= sizeof(words) / sizeof(words[0])) {
        turn_ear(sub, which, now_ns);
        return;
    }
    size_t len = strlen(words[action]);
    memcpy(word, words[action], len + 1);
    char *mark = strchr(word, '%');
    *mark = (char)('0' + which);
    memmove(mark + 1, mark + 2, strlen(mark + 2) + 1);
    receive(sub, word, strlen(word), now_ns);
}

static void run_steps(struct rl_sub *sub, const uint8_t *data, size_t size)
{
    int64_t now_ns = RL_NS_PER_S;
    rl_sub_want(sub, now_ns);
    while (size >= 2) {
        uint8_t what = data[0] % 8, much = data[1];
        size_t len = 0;
        data += 2;
        size -= 2;
        switch (what) {
        case 0:
            len = much < size ? much : size;
            receive(sub, data, len, now_ns);
            break;
        case 1:
            now_ns += (int64_t)much * 100 * RL_NS_PER_MS;
            break;
        case 2:
            input_link_end(sub->connection.link);
            receive(sub, NULL, 0, now_ns);
            break;
        case 3:
            rl_sub_unwant(sub);
            break;
        case 4:
            rl_sub_want(sub, now_ns);
            break;
        case 7:
            say_of_ear(sub, much, now_ns);
            break;
        default:
            say_well(sub, much, now_ns);
            break;
        }
        data += len;
        size -= len;
        rl_sub_tick(sub, now_ns);
        REQUIRE(rl_sub_due_ns(sub) > 0);
        REQUIRE(rl_sub_listens(sub) == listens);
        require_ears(sub);
    }
}

const char fuzz_corpus[] = "sub";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rl_node_config config = {.transport = RL_UNIX, .label = "fuzz", .path = "/"};
    static struct rl_clock clock;
    static const struct rl_driven driven;
    struct rl_prng prng;
    struct rl_node_settings settings = {
        .clock = &clock,
        .driven = &driven,
        .prng = &prng,
        .connect_timeout_ns = RL_NS_PER_S,
        .stall_limit_ns = RL_NS_PER_S,
        .drain_limit_ns = 10 * RL_NS_PER_S,
        .connection_name = "fuzz",
    };
    struct rl_node node = {.config = &config, .settings = &settings};
    struct rl_sub sub;
    rl_prng_seed(&prng, 1);
    input_secret = NULL;
    if (size > 0 && data[0] >= 0xf0) /* seldom: to wipe it costs more than all else */
        config.password = (char *)(uintptr_t)(input_secret = INPUT_SECRET);
    listens = false;
    if (rl_sub_init(&sub, &node, &events, UUID, -1, -1) != 0)
        return 0;
    memset(taken, 0, sizeof(taken));
    sub.channels = &channels;
    run_steps(&sub, data, size);
    rl_sub_done(&sub, false);
    rl_channels_free(&channels);
    return 0;
}
