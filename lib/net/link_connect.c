/* link_connect.c - from a name to an open link, within one budget.
 *
 * The addresses are tried one after the other. Each may use its share of the remaining time
 * (remaining / addresses left). So a silent one costs no more than that, and a refused one
 * costs nothing. The TLS handshake counts to its address' share. A silent address is tried
 * again and again meanwhile (link_race.c).
 *
 * Every connect looks the name up anew. If that fails, or takes more than half of the budget,
 * the link uses the addresses found earlier, if any.
 */
#include "config_auto.h"

#include "base/clock.h"
#include "net/link_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/un.h>

static void connect_next(struct rl_link *link, int64_t now_ns);

static void note_errno(struct rl_link *link, const char *what, int error)
{
    char text[128];

    errno = error;
    snprintf(text, sizeof(text), "%s%m", what);
    rl_link_note(link, link->where, text);
}

/* ---- one address ---------------------------------------------------------------------- */

/* This address has failed and its reason is noted: try the next one. */
static void give_up_address(struct rl_link *link, int64_t now_ns)
{
    assert(link->text[0] && link->state != RL_LINK_OPEN);
    rl_link_drop(link);
    if (link->node->transport == RL_UNIX)
        rl_link_fail(link);
    else
        connect_next(link, now_ns);
}

static void give_up_with(struct rl_link *link, const char *what, int64_t now_ns)
{
    rl_link_note(link, link->where, what);
    give_up_address(link, now_ns);
}

static void become_open(struct rl_link *link, int64_t now_ns)
{
    assert((link->tls != NULL) == (link->node->transport == RL_TLS));
    if (!rl_link_watch(link, EPOLLIN)) {
        note_errno(link, "", errno);
        give_up_address(link, now_ns);
        return;
    }
    rl_link_set_state(link, RL_LINK_OPEN);
    link->due_ns = INT64_MAX;
    link->text[0] = '\0';
}

static void step_securing(struct rl_link *link, int64_t now_ns)
{
    uint32_t wanted = EPOLLIN;
    assert(link->state == RL_LINK_SECURING && link->tls);

    switch (rl_tls_handshake(link->tls)) {
    case RL_TLS_OK:
        become_open(link, now_ns);
        return;
    case RL_TLS_FAILED:
        give_up_with(link, rl_tls_text(link->tls), now_ns);
        return;
    case RL_TLS_WANT_WRITE:
        wanted = EPOLLOUT;
        break;
    case RL_TLS_WANT_READ:
        break;
    }
    if (now_ns >= link->due_ns) {
        give_up_with(link, "timed out in the TLS handshake", now_ns);
    } else if (!rl_link_watch(link, wanted)) {
        note_errno(link, "", errno);
        give_up_address(link, now_ns);
    }
}

static void become_connected(struct rl_link *link, int64_t now_ns)
{
    assert(link->fd >= 0 && link->older[0] < 0); /* the one that is connected stays */
    if (link->node->transport != RL_TLS) {
        become_open(link, now_ns);
        return;
    }
    link->tls = rl_tls_new(link->tls_context, link->node, link->fd);
    if (!link->tls) {
        give_up_with(link, "out of memory", now_ns);
        return;
    }
    rl_link_set_state(link, RL_LINK_SECURING);
    link->due_ns = link->share_ns;
    step_securing(link, now_ns);
}

/* ---- unix sockets --------------------------------------------------------------------- */

static void connect_unix(struct rl_link *link, int64_t now_ns)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(link->node->path);

    assert(len > 0 && len <= RL_UNIX_PATH_MAX);
    memcpy(address.sun_path, link->node->path, len);
    snprintf(link->where, sizeof(link->where), "%s", link->node->path);
    rl_link_set_state(link, RL_LINK_CONNECTING);
    link->due_ns = link->share_ns = link->deadline_ns;
    int error = rl_link_start_socket(link, (const struct sockaddr *)&address, sizeof(address));
    if (error == 0)
        return;
    if (error == EAGAIN) {
        link->due_ns = rl_earlier_ns(link->deadline_ns, now_ns + RL_LINK_BACKLOG_RETRY_NS);
        return;
    }
    note_errno(link, "", error);
    rl_link_fail(link);
}

/* ---- all addresses -------------------------------------------------------------------- */

static void connect_next(struct rl_link *link, int64_t now_ns)
{
    assert(link->fd < 0 && !link->tls); /* the one before is dropped */
    while (link->next_address < link->addresses.count) {
        const struct rl_address *address = &link->addresses.list[link->next_address];
        unsigned left = link->addresses.count - link->next_address;
        int64_t share_ns = (link->deadline_ns - now_ns) / left;

        rl_address_text(address, link->where, sizeof(link->where));
        if (share_ns <= 0) {
            rl_link_note(link, link->where, "no time was left to try it");
            break;
        }
        link->next_address++;
        int error = rl_link_start_socket(link, &address->as.any, address->len);
        if (error == 0) {
            rl_link_set_state(link, RL_LINK_CONNECTING);
            link->share_ns = now_ns + share_ns;
            link->due_ns = rl_earlier_ns(link->share_ns, now_ns + RL_LINK_AGAIN_NS);
            return;
        }
        note_errno(link, rl_socket_is_shortage(error) ? "no socket to be had: " : "", error);
        rl_link_drop(link);
        if (rl_socket_is_shortage(error))
            break;
    }
    rl_link_fail(link);
}

static void connect_first(struct rl_link *link, int64_t now_ns)
{
    assert(link->addresses.count > 0);
    if (link->order)
        link->order(link->order_context, &link->addresses);
    link->next_address = 0;
    connect_next(link, now_ns);
}

/* ---- the name ------------------------------------------------------------------------- */

static void forget_lookup(struct rl_link *link)
{
    rl_lookup_abandon(link->lookup);
    link->lookup = NULL;
}

/* The look-up gave no answer, and its reason is noted. */
static void use_earlier_addresses(struct rl_link *link, int64_t now_ns)
{
    assert(link->text[0]);
    if (link->addresses.count > 0)
        connect_first(link, now_ns);
    else
        rl_link_fail(link);
}

static void step_resolving(struct rl_link *link, int64_t now_ns)
{
    char why[128];

    assert(link->lookup);
    switch (rl_lookup_poll(link->lookup, &link->addresses, why, sizeof(why))) {
    case RL_LOOKUP_DONE:
        forget_lookup(link);
        connect_first(link, now_ns);
        break;
    case RL_LOOKUP_FAILED:
        forget_lookup(link);
        rl_link_note(link, link->node->host, why);
        use_earlier_addresses(link, now_ns);
        break;
    case RL_LOOKUP_RUNNING:
        if (now_ns < link->due_ns)
            break;
        rl_link_note(link, link->node->host, "the name look-up takes too long");
        use_earlier_addresses(link, now_ns);
        break;
    }
}

static void look_up(struct rl_link *link, int64_t now_ns)
{
    char why[128];
    assert(link->node->transport != RL_UNIX && !link->numeric);

    /* A look-up that ended after its connect is of unknown age: use it as an earlier answer. */
    if (link->lookup &&
        rl_lookup_poll(link->lookup, &link->addresses, why, sizeof(why)) != RL_LOOKUP_RUNNING)
        forget_lookup(link);
    if (!link->lookup)
        link->lookup = rl_lookup_start(link->node->host, link->node->port, link->wake_fd);
    if (!link->lookup) {
        snprintf(link->where, sizeof(link->where), "%.120s", link->node->host);
        note_errno(link, "no thread for the name look-up: ", errno);
        use_earlier_addresses(link, now_ns);
        return;
    }
    rl_link_set_state(link, RL_LINK_RESOLVING);
    link->due_ns =
        link->addresses.count > 0
            ? rl_earlier_ns(link->deadline_ns, now_ns + (link->deadline_ns - now_ns) / 2)
            : link->deadline_ns;
}

void rl_link_connect(struct rl_link *link, int64_t now_ns)
{
    if (link->node->transport == RL_UNIX)
        connect_unix(link, now_ns);
    else if (link->numeric)
        connect_first(link, now_ns);
    else
        look_up(link, now_ns);
}

void rl_link_absent(struct rl_link *link, int64_t absent_ns)
{
    assert(absent_ns > 0);
    if (link->state == RL_LINK_IDLE || link->state == RL_LINK_FAILED ||
        link->state == RL_LINK_OPEN)
        return;
    link->deadline_ns += absent_ns;
    link->share_ns += absent_ns;
    link->due_ns += absent_ns;
}

static void step_connecting(struct rl_link *link, uint32_t events, int64_t now_ns)
{
    assert(link->fd >= 0 && !link->tls);
    if (!link->registered) {
        /* The backlog of the unix socket was full. */
        if (now_ns >= link->deadline_ns)
            give_up_with(link, "timed out: its backlog is full", now_ns);
        else if (now_ns >= link->due_ns)
            connect_unix(link, now_ns);
        return;
    }
    int error = events != 0 ? rl_link_race_error(link) : EINPROGRESS;
    if (error == 0) {
        become_connected(link, now_ns);
    } else if (error != EINPROGRESS) {
        note_errno(link, "", error);
        give_up_address(link, now_ns);
    } else if (now_ns >= link->share_ns) {
        give_up_with(link, "timed out while connecting", now_ns);
    } else if (now_ns >= link->due_ns) {
        rl_link_race_again(link, now_ns);
    }
}

void rl_link_connect_step(struct rl_link *link, uint32_t events, int64_t now_ns)
{
    switch (link->state) {
    case RL_LINK_RESOLVING:
        step_resolving(link, now_ns);
        break;
    case RL_LINK_CONNECTING:
        step_connecting(link, events, now_ns);
        break;
    default:
        assert(link->state == RL_LINK_SECURING);
        step_securing(link, now_ns);
    }
}
