/* resolve.c - each look-up has a detached thread, and a job that the thread and the caller
 * share.
 *
 * The thread may run our code after the caller has abandoned it, even after the client was
 * closed. The library is linked with -z nodelete, so dlclose() leaves that code mapped.
 */
#include "config_auto.h"

#include "net/resolve.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Small beside the usual 8 MiB, and enough for the modules that look names up. */
#define STACK_BYTES ((size_t)512 * 1024)

struct rl_lookup {
    pthread_mutex_t lock; /* guards all members down to `addresses` */
    unsigned holders;     /* the caller and the thread: the last one frees it */
    int wake_fd;          /* -1: abandoned */
    enum rl_lookup_state state;
    char why[128];
    struct rl_addresses addresses;
    char host[RL_HOST_MAX + 1]; /* only the thread reads these two */
    char service[6];
};

static bool same_address(const struct rl_address *a, const struct sockaddr *b, socklen_t len)
{
    assert(len <= sizeof(a->as)); /* of IPv4 or IPv6 */
    return a->len == len && memcmp(&a->as, b, len) == 0;
}

bool rl_address_is(const struct rl_address *a, const struct rl_address *b)
{
    return same_address(a, &b->as.any, b->len);
}

static void keep(struct rl_addresses *addresses, const struct addrinfo *info)
{
    for (unsigned i = 0; i < addresses->count; i++)
        if (same_address(&addresses->list[i], info->ai_addr, info->ai_addrlen))
            return;
    if (addresses->count == RL_ADDRESSES_MAX) {
        addresses->more = true;
        return;
    }
    struct rl_address *address = &addresses->list[addresses->count++];
    address->len = info->ai_addrlen;
    memcpy(&address->as, info->ai_addr, info->ai_addrlen);
}

static const struct addrinfo *next_of_family(const struct addrinfo *info, int family)
{
    while (info && info->ai_family != family)
        info = info->ai_next;
    return info;
}

/* The families alternate, beginning with the system's favourite. If one family does not work in
 * this network, it costs only one address' share of the time. */
static void interleave(const struct addrinfo *found, struct rl_addresses *ret_addresses)
{
    int first = AF_INET;

    for (const struct addrinfo *info = found; info; info = info->ai_next) {
        if (info->ai_family == AF_INET || info->ai_family == AF_INET6) {
            first = info->ai_family;
            break;
        }
    }
    const struct addrinfo *turn[2] = {
        next_of_family(found, first),
        next_of_family(found, first == AF_INET ? AF_INET6 : AF_INET),
    };
    memset(ret_addresses, 0, sizeof(*ret_addresses));
    for (unsigned i = 0; turn[0] || turn[1]; i ^= 1) {
        if (!turn[i])
            continue;
        keep(ret_addresses, turn[i]);
        turn[i] = next_of_family(turn[i]->ai_next, turn[i]->ai_family);
    }
}

static int get_addresses(const char *host, const char *service, int flags,
                         struct rl_addresses *ret_addresses)
{
    struct addrinfo *found = NULL;
    struct addrinfo hints;

    /* Not AI_ADDRCONFIG: it hides ::1 and 127.0.0.1 on a machine that has nothing else. An
     * address that can't be reached from here fails at once anyway. */
    memset(&hints, 0, sizeof(hints));
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_protocol = IPPROTO_TCP;
    hints.ai_flags = flags | AI_NUMERICSERV;
    int error = getaddrinfo(host, service, &hints, &found);
    if (error != 0)
        return error;
    interleave(found, ret_addresses);
    freeaddrinfo(found);
    assert(ret_addresses->count <= RL_ADDRESSES_MAX);
    return ret_addresses->count > 0 ? 0 : EAI_NONAME;
}

void rl_address_text(const struct rl_address *address, char *ret_text, size_t size)
{
    assert(size >= RL_ADDRESS_TEXT_MAX && address->len <= sizeof(address->as));
    char host[INET6_ADDRSTRLEN + 1 + 16];
    char service[6];

    if (getnameinfo(&address->as.any, address->len, host, sizeof(host), service,
                    sizeof(service), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        snprintf(ret_text, size, "(no address)");
    else if (address->as.any.sa_family == AF_INET6)
        snprintf(ret_text, size, "[%s]:%s", host, service);
    else
        snprintf(ret_text, size, "%s:%s", host, service);
}

void rl_addresses_turn(void *unused, struct rl_addresses *addresses)
{
    const struct rl_addresses found = *addresses;
    (void)unused;
    for (unsigned i = 0; i < found.count; i++)
        addresses->list[i] = found.list[found.count - 1 - i];
}

bool rl_resolve_numeric(const char *host, int port, struct rl_addresses *ret_addresses)
{
    char service[6];

    assert(port > 0 && port <= 65535);
    snprintf(service, sizeof(service), "%u", (unsigned)(uint16_t)port);
    return get_addresses(host, service, AI_NUMERICHOST, ret_addresses) == 0;
}

static void let_go(struct rl_lookup *lookup)
{
    pthread_mutex_lock(&lookup->lock);
    assert(lookup->holders > 0);
    bool last = --lookup->holders == 0;
    pthread_mutex_unlock(&lookup->lock);
    if (last) {
        pthread_mutex_destroy(&lookup->lock);
        free(lookup);
    }
}

static void *look_up(void *argument)
{
    struct rl_lookup *lookup = argument;
    struct rl_addresses addresses;
    const uint64_t one = 1;

    pthread_setname_np(pthread_self(), "redlock-dns");
    int error = get_addresses(lookup->host, lookup->service, 0, &addresses);
    int system_error = errno;

    pthread_mutex_lock(&lookup->lock);
    assert(lookup->state == RL_LOOKUP_RUNNING); /* it ends once */
    if (error == 0) {
        lookup->addresses = addresses;
        lookup->state = RL_LOOKUP_DONE;
    } else {
        errno = system_error;
        if (error == EAI_SYSTEM)
            snprintf(lookup->why, sizeof(lookup->why), "%m");
        else
            snprintf(lookup->why, sizeof(lookup->why), "%s", gai_strerror(error));
        lookup->state = RL_LOOKUP_FAILED;
    }
    /* Under the lock: a caller that has given up may have closed wake_fd, and its number may
     * be reused. */
    if (lookup->wake_fd >= 0)
        while (write(lookup->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
            continue;
    pthread_mutex_unlock(&lookup->lock);
    let_go(lookup);
    return NULL;
}

/* Start a thread that blocks all of the application's signals. 0 or an errno. */
static int start_thread(struct rl_lookup *lookup)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;

    int error = pthread_attr_init(&attributes);
    if (error != 0)
        return error;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    /* The system refuses a size below its minimum; then the default is used. */
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    /* The new thread inherits the mask: no signal can slip in before it has set its own. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, &attributes, look_up, lookup);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

struct rl_lookup *rl_lookup_start(const char *host, int port, int wake_fd)
{
    assert(wake_fd >= 0);
    assert(port > 0 && port <= 65535);
    assert(strlen(host) <= RL_HOST_MAX);

    struct rl_lookup *lookup = calloc(1, sizeof(*lookup));
    if (!lookup)
        return NULL;
    lookup->holders = 2;
    lookup->wake_fd = wake_fd;
    lookup->state = RL_LOOKUP_RUNNING;
    snprintf(lookup->host, sizeof(lookup->host), "%s", host);
    snprintf(lookup->service, sizeof(lookup->service), "%u", (unsigned)(uint16_t)port);
    int error = pthread_mutex_init(&lookup->lock, NULL);
    if (error == 0) {
        error = start_thread(lookup);
        if (error == 0)
            return lookup;
        pthread_mutex_destroy(&lookup->lock);
    }
    free(lookup);
    errno = error;
    return NULL;
}

enum rl_lookup_state rl_lookup_poll(struct rl_lookup *lookup,
                                    struct rl_addresses *ret_addresses, char *why,
                                    size_t why_size)
{
    pthread_mutex_lock(&lookup->lock);
    assert(lookup->holders > 0 && lookup->wake_fd >= 0);
    enum rl_lookup_state state = lookup->state;
    if (state == RL_LOOKUP_DONE)
        *ret_addresses = lookup->addresses;
    else if (state == RL_LOOKUP_FAILED)
        snprintf(why, why_size, "%s", lookup->why);
    pthread_mutex_unlock(&lookup->lock);
    return state;
}

void rl_lookup_abandon(struct rl_lookup *lookup)
{
    if (!lookup)
        return;
    pthread_mutex_lock(&lookup->lock);
    assert(lookup->wake_fd >= 0); /* the caller gives it up once */
    lookup->wake_fd = -1;
    pthread_mutex_unlock(&lookup->lock);
    let_go(lookup);
}

void rl_lookup_free_in_child(struct rl_lookup *lookup)
{
    /* The thread does not exist here, and the mutex owns no memory: freeing is enough. */
    free(lookup);
}
