/* holder_clients.c - see holder_clients.h. */
#include "config_auto.h"

#include "redlock/holder_clients.h"

#include "base/client_name.h"
#include "base/text.h"

#include <assert.h>
#include <string.h>

#define PID_DIGITS_MAX 10
#define TOKEN_HEX (2 * RL_TOKEN_RANDOM_BYTES)

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

/* "UUID:NUMBER", as our owners are and Redisson's: NULL where it is another. */
static const char *uuid_of(const redlock_holder *holder)
{
    const char *owner = holder->owner;
    if (holder->owner_len < RL_UUID_LEN + 2 || owner[RL_UUID_LEN] != ':' || !rl_is_uuid(owner))
        return NULL;
    for (size_t i = RL_UUID_LEN + 1; i < holder->owner_len; i++) {
        if (!is_digit(owner[i]))
            return NULL;
    }
    return owner;
}

static struct holder_client *find(const struct holder_clients *clients, const char *uuid)
{
    for (unsigned i = 0; i < clients->count; i++) {
        const struct holder_client *client = &clients->client[i];
        if (memcmp(client->uuid, uuid, RL_UUID_LEN) == 0)
            return (struct holder_client *)(uintptr_t)client;
    }
    return NULL;
}

void holder_clients_want(struct holder_clients *clients, const redlock_lock_info *all)
{
    for (unsigned i = 0; i < all->holder_count; i++) {
        const redlock_holder *holder = &all->holder[i];
        int state = holder->node < 0 ? all->state : all->node[holder->node].state;
        const char *uuid = state != REDLOCK_STATE_PLAIN ? uuid_of(holder) : NULL;
        if (!uuid || find(clients, uuid))
            continue;
        assert(clients->count < sizeof(clients->client) / sizeof(clients->client[0]));
        memcpy(clients->client[clients->count++].uuid, uuid, RL_UUID_LEN);
    }
}

/* ---- what masters say of their clients -------------------------------------------------- */

/* A connection's name. */
static void take_name(void *context, const struct client_line *line, const struct rl_mask *mask)
{
    struct holder_clients *clients = context;
    struct client_said said;
    if (!client_said(line, mask, &said))
        return;
    struct holder_client *client = find(clients, said.uuid);
    if (!client)
        return;
    if (client->name.len == 0)
        client->name = said.name;
    else if (client->name.len != said.name.len ||
             memcmp(client->name.text, said.name.text, said.name.len) != 0)
        client->disputed = true;
}

void holder_clients_heard(struct holder_clients *clients, const char *list, size_t len,
                          const struct rl_mask *mask)
{
    client_list_each(list, len, mask, take_name, clients);
}

/* ---- what is known of a holder ---------------------------------------------------------- */

/* 32 hex digits, a colon and what its client calls itself; others write other tokens. */
static struct client_name name_in_token(const redlock_holder *token)
{
    struct client_name name = {.len = 0};
    if (token->owner_len <= TOKEN_HEX + 1 || token->owner[TOKEN_HEX] != ':' ||
        token->owner_len - TOKEN_HEX - 1 > sizeof(name.text))
        return name;
    for (size_t i = 0; i < TOKEN_HEX; i++) {
        if (!is_hex(token->owner[i]))
            return name;
    }
    name.len = token->owner_len - TOKEN_HEX - 1;
    memcpy(name.text, token->owner + TOKEN_HEX + 1, name.len);
    return name;
}

struct client_name holder_name_of(const struct holder_clients *clients, int state,
                                  const redlock_holder *holder)
{
    if (state == REDLOCK_STATE_PLAIN)
        return name_in_token(holder);
    const char *uuid = clients ? uuid_of(holder) : NULL;
    const struct holder_client *client = uuid ? find(clients, uuid) : NULL;
    return client && !client->disputed ? client->name : (struct client_name){.len = 0};
}

size_t holder_host_len(const struct client_name *name, int64_t *ret_pid)
{
    size_t len = name->len, digits = 0;
    int64_t pid = 0;
    while (digits < len && is_digit(name->text[len - digits - 1]))
        digits++;
    if (digits == 0 || digits > PID_DIGITS_MAX || len < digits + 2 ||
        name->text[len - digits - 1] != ':')
        return 0;
    size_t host_len = len - digits - 1;
    for (size_t i = 0; i < host_len; i++) {
        if (!rl_host_byte(name->text[i]))
            return 0;
    }
    for (size_t i = host_len + 1; i < len; i++)
        pid = 10 * pid + (name->text[i] - '0');
    *ret_pid = pid;
    return host_len;
}
