/* script_talk.c - see script_talk.h. */
#include "config_auto.h"

#include "script_talk.h"

#include "kinds/keys.h"
#include "kinds/name_set.h"
#include "script_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

enum { WORDS_MAX = 48, ASK_ROOM = 16384, LIMIT_S = 10, ID_LEN = 36 };

void talk_open(struct talk *talk, const struct masters *masters, unsigned node)
{
    struct timeval limit = {.tv_sec = LIMIT_S};
    talk->used = talk->len = 0;
    talk->fd = net_connect(&masters->node[node].unix_at);
    if (talk->fd < 0)
        suite_die("can't connect to master %u", node);
    setsockopt(talk->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

void talk_close(struct talk *talk)
{
    net_close(talk->fd, false);
}

static void say(struct talk *talk, unsigned argc, const char *const argv[], const size_t lens[])
{
    char bytes[ASK_ROOM];
    size_t len = wire_encode(bytes, sizeof(bytes), argc, argv, lens);
    if (len == 0 || !net_send(talk->fd, bytes, len))
        suite_die("can't send a command of %u words", argc);
}

static unsigned hear(struct talk *talk, struct wire_item items[WIRE_ITEMS_MAX])
{
    for (;;) {
        unsigned count;
        long used = wire_parse(talk->bytes + talk->used, talk->len - talk->used, items, &count);
        if (used > 0) {
            talk->used += (size_t)used;
            return count;
        }
        memmove(talk->bytes, talk->bytes + talk->used, talk->len - talk->used);
        talk->len -= talk->used;
        talk->used = 0;
        size_t room = sizeof(talk->bytes) - talk->len;
        ssize_t got = used == 0 ? recv(talk->fd, talk->bytes + talk->len, room, 0) : -1;
        if (got < 0 && used == 0 && errno == EINTR) /* also of who was stopped meanwhile */
            continue;
        if (got <= 0)
            suite_die("a master says nothing, or no RESP");
        talk->len += (size_t)got;
    }
}

unsigned talk_ask(struct talk *talk, unsigned argc, const char *const argv[],
                  const size_t lens[], struct wire_item ret_items[WIRE_ITEMS_MAX])
{
    say(talk, argc, argv, lens);
    return hear(talk, ret_items);
}

struct wire_item talk_do(struct talk *talk, ...)
{
    struct wire_item items[WIRE_ITEMS_MAX];
    const char *argv[WORDS_MAX];
    size_t lens[WORDS_MAX];
    unsigned argc = 0;
    va_list words;
    va_start(words, talk);
    while (argc < WORDS_MAX && (argv[argc] = va_arg(words, const char *)) != NULL) {
        lens[argc] = strlen(argv[argc]);
        argc++;
    }
    va_end(words);
    talk_ask(talk, argc, argv, lens, items);
    return items[0];
}

void talk_log_in(struct talk *talk, const struct masters *masters, const char *const *rules,
                 struct talk *ret_restricted)
{
    const char *words[20] = {"ACL", "SETUSER", "few", "reset", "on", ">pw", "+@all"};
    size_t lens[20];
    unsigned count = 7;
    struct wire_item items[WIRE_ITEMS_MAX];
    for (; *rules; rules++)
        words[count++] = *rules;
    for (unsigned i = 0; i < count; i++)
        lens[i] = strlen(words[i]);
    talk_ask(talk, count, words, lens, items);
    ck_assert_msg(items[0].type == '+', "%.*s", (int)items[0].len, items[0].bytes);
    talk_open(ret_restricted, masters, 0);
    ck_assert_int_eq(talk_do(ret_restricted, "AUTH", "few", "pw", (char *)NULL).type, '+');
}

struct masters *talk_masters;
struct talk talk_here;

void talk_start(void)
{
    talk_masters = masters_start(1, NULL);
}

void talk_stop(void)
{
    masters_stop(talk_masters);
}

void talk_begin(void)
{
    talk_open(&talk_here, talk_masters, 0);
    talk_do(&talk_here, "FLUSHALL", (char *)NULL);
}

void talk_end(void)
{
    talk_close(&talk_here);
}

/* ---- scripts --------------------------------------------------------------------------- */

#define KEYS_MAX 24

struct words {
    unsigned count;
    const char *at[WORDS_MAX];
    size_t len[WORDS_MAX];
    char number[WORDS_MAX][24];
};

static void add(struct words *words, const char *text, size_t len)
{
    words->at[words->count] = text;
    words->len[words->count++] = len;
}

static void add_number(struct words *words, int64_t number)
{
    char *text = words->number[words->count];
    int len = snprintf(text, sizeof(words->number[0]), "%" PRId64, number);
    add(words, text, (size_t)len);
}

static void add_argument(struct words *words, const struct script_call *call, char letter)
{
    switch (letter) {
    case 'o':
        add(words, call->owner ? call->owner : "", call->owner ? strlen(call->owner) : 0);
        break;
    case 't':
        add(words, call->token, strlen(call->token));
        break;
    case 'T':
        add_number(words, call->ttl_ms);
        break;
    case 'w':
        add(words, call->waiter, strlen(call->waiter));
        break;
    case 'a':
        add_number(words, call->age_us);
        break;
    case 'q':
        add_number(words, call->queue_ms);
        break;
    case 'k':
    case 'K':
        add_number(words, call->reserve_ms);
        break;
    case 'f':
        add_number(words, call->fair_ms);
        break;
    case 's':
        add_number(words, RL_SHORTENED_MS);
        break;
    case 'm':
        add_number(words, call->writer_waiting_ms);
        break;
    case 'e':
        add_number(words, call->endless);
        break;
    case 'W':
        add(words, SCRIPT_BREAKER, strlen(SCRIPT_BREAKER));
        break;
    case 'X':
        add_number(words, 60000);
        break;
    default:
        suite_die("what is argument '%c'?", letter);
    }
}

static void take_text(char *ret, size_t size, const struct wire_item *item)
{
    size_t len = item->len < size ? item->len : size - 1;
    memcpy(ret, item->bytes, len);
    ret[len] = '\0';
}

static struct script_told understand(const struct wire_item *items, unsigned count,
                                     const char *nonce)
{
    struct script_told told = {.type = items[0].type, .parts = count - 1};
    if (told.type == '-')
        take_text(told.text, sizeof(told.text), &items[0]);
    if (told.type != '*' && told.type != '$')
        return told;
    bool array = told.type == '*'; /* a minus stands behind the nonce there */
    const struct wire_item *first = &items[array];
    ck_assert(first->type == '$' && first->len == strlen(nonce) + array &&
              memcmp(first->bytes, nonce, strlen(nonce)) == 0);
    ck_assert(!array || first->bytes[first->len - 1] == '-');
    if (told.type == '$') { /* the nonce alone: granted */
        told.type = '*';
        told.parts = 2;
        told.yes = RL_GRANTED;
        return told;
    }
    ck_assert_uint_gt(count, 2);
    ck_assert_int_eq(items[2].type, ':');
    told.yes = items[2].number;
    ck_assert(told.yes != RL_GRANTED || told.parts > 2);
    if (told.parts > 3) {
        ck_assert(items[3].type == ':' && items[4].type == '$' && items[4].number >= 0);
        told.left_ms = items[3].number;
        told.holder_len = items[4].len;
        take_text(told.holder, sizeof(told.holder), &items[4]);
    }
    if (told.parts > 4 && items[5].type == '$') {
        told.details_len = items[5].len;
        take_text(told.details, sizeof(told.details), &items[5]);
    } else if (told.parts > 4) {
        ck_assert_int_eq(items[5].type, ':');
        told.place = items[5].number;
    }
    return told;
}

/* The keys, of every name that the call is about. Returns how many. */
static unsigned make_keys(const char *letters, const struct rl_target *target,
                          struct wire_item ret_keys[KEYS_MAX])
{
    static char bytes[KEYS_MAX][RL_KEY_MAX];
    unsigned count = 0;
    for (; *letters; letters++) {
        struct rl_target one = *target;
        redlock_bytes name;
        for (size_t at = 0; rl_names_next(target, &at, &name); count++) {
            ck_assert_uint_lt(count, KEYS_MAX);
            one.name = name.bytes;
            one.name_len = name.len;
            ret_keys[count].bytes = bytes[count];
            ret_keys[count].len = rl_key_text(*letters, &one, bytes[count]);
        }
    }
    return count;
}

struct script_told script_run(struct talk *talk, enum rl_verb verb,
                              const struct script_call *call)
{
    static unsigned long number;
    bool any = verb == RL_INSPECT || verb == RL_FORCE;
    const struct rl_kind *kind = rl_kind(any ? RL_ROW_ANY : call->row);
    const struct rl_script *script = &kind->script[verb];
    struct rl_target target = {
        .kind = kind,
        .name = call->name,
        .name_len = call->name_len > 0 ? call->name_len : strlen(call->name),
        .owner = call->owner,
        .owner_len = call->owner ? strlen(call->owner) : 0,
    };
    struct words words = {.count = 0};
    struct wire_item items[WIRE_ITEMS_MAX], keys[KEYS_MAX];
    unsigned key_count = make_keys(script->keys, &target, keys);
    char made[24];
    snprintf(made, sizeof(made), "nonce-%lu", ++number);
    const char *nonce = script->echoes_token ? call->token : made;
    add(&words, "EVAL", 4);
    const char *body = script_text(script->body);
    add(&words, body, strlen(body));
    add_number(&words, key_count);
    for (unsigned i = 0; i < key_count; i++)
        add(&words, keys[i].bytes, keys[i].len);
    add(&words, nonce, strlen(nonce));
    for (const char *letter = script->args; *letter; letter++)
        add_argument(&words, call, *letter);
    unsigned count = talk_ask(talk, words.count, words.at, words.len, items);
    return understand(items, count, script->echoes_token ? nonce + 1 : nonce);
}

/* ---- waiters --------------------------------------------------------------------------- */

const char *talk_waiter(unsigned client, unsigned number, char ret_waiter[RL_WAITER_MAX])
{
    snprintf(ret_waiter, RL_WAITER_MAX, "%08x-1111-4222-8333-444444444444:%u", client, number);
    return ret_waiter;
}

void talk_listen(struct talk *talk, const char *waiter)
{
    char channel[64];
    ck_assert_uint_gt(strlen(waiter), ID_LEN);
    snprintf(channel, sizeof(channel), "%s%.*s", RL_WAKE_PREFIX, ID_LEN, waiter);
    struct wire_item first = talk_do(talk, "SUBSCRIBE", channel, (char *)NULL);
    ck_assert_int_eq(first.type, '*');
}

static bool item_is(const struct wire_item *item, const char *text)
{
    return item->len == strlen(text) && memcmp(item->bytes, text, item->len) == 0;
}

unsigned talk_messages(struct talk *talk, struct talk_message ret_messages[TALK_CALLS_MAX])
{
    static const char *const ping[] = {"PING"};
    static const size_t ping_len[] = {4};
    struct wire_item items[WIRE_ITEMS_MAX];
    unsigned messages = 0;
    say(talk, 1, ping, ping_len);
    for (;;) {
        unsigned count = hear(talk, items);
        if (count == 3 && item_is(&items[1], "pong"))
            return messages;
        ck_assert(count == 4 && item_is(&items[1], "message"));
        ck_assert_uint_lt(messages, TALK_CALLS_MAX);
        struct talk_message *message = &ret_messages[messages++];
        take_text(message->channel, sizeof(message->channel), &items[2]);
        take_text(message->text, sizeof(message->text), &items[3]);
    }
}

unsigned talk_calls(struct talk *talk, char ret_waiters[TALK_CALLS_MAX][RL_WAITER_MAX])
{
    struct talk_message messages[TALK_CALLS_MAX];
    unsigned count = talk_messages(talk, messages);
    for (unsigned i = 0; i < count; i++) {
        /* A waiter is called by its client's channel. */
        size_t prefix = strlen(RL_WAKE_PREFIX), len = strlen(messages[i].text);
        ck_assert_uint_lt(len, RL_WAITER_MAX);
        ck_assert(len > ID_LEN && strlen(messages[i].channel) == prefix + ID_LEN);
        ck_assert_mem_eq(messages[i].channel + prefix, messages[i].text, ID_LEN);
        memcpy(ret_waiters[i], messages[i].text, len + 1);
    }
    return count;
}

const char *talk_called(struct talk *talk)
{
    static char calls[TALK_CALLS_MAX][RL_WAITER_MAX];
    unsigned count = talk_calls(talk, calls);
    return count == 0 ? "" : count == 1 ? calls[0] : "many";
}
