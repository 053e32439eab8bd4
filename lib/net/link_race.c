/* link_race.c - one address on several sockets. A silent address is tried again and again, each
 * time on a further socket. The first socket that is connected stays.
 */
#include "config_auto.h"

#include "base/clock.h"
#include "net/link_internal.h"

#include <assert.h>
#include <errno.h>
#include <sys/epoll.h>

/* The sockets, newest first. */
static int *socket_at(struct rl_link *link, unsigned i)
{
    assert(i < RL_LINK_TRIES);
    return i == 0 ? &link->fd : &link->older[i - 1];
}

/* Close one; those behind it move up. */
static void drop_at(struct rl_link *link, unsigned i)
{
    if (*socket_at(link, i) >= 0)
        rl_link_drop_fd(link, *socket_at(link, i), i > 0 || link->registered);
    for (; i < RL_LINK_TRIES - 1; i++)
        *socket_at(link, i) = *socket_at(link, i + 1);
    *socket_at(link, i) = -1;
    link->registered = link->fd >= 0;
    link->watched = link->fd >= 0 ? EPOLLOUT : 0;
}

void rl_link_race_again(struct rl_link *link, int64_t now_ns)
{
    const struct rl_address *address = &link->addresses.list[link->next_address - 1];

    assert(link->fd >= 0 && link->next_address > 0);
    link->due_ns = rl_earlier_ns(link->share_ns, now_ns + RL_LINK_AGAIN_NS);
    if (*socket_at(link, RL_LINK_TRIES - 1) >= 0)
        drop_at(link, RL_LINK_TRIES - 2);
    for (unsigned i = RL_LINK_TRIES - 1; i > 0; i--)
        *socket_at(link, i) = *socket_at(link, i - 1);
    link->fd = -1;
    link->registered = false;
    if (rl_link_start_socket(link, &address->as.any, address->len) != 0)
        drop_at(link, 0); /* another one may still be connected */
}

int rl_link_race_error(struct rl_link *link)
{
    int error = EINPROGRESS;

    assert(link->fd >= 0 && link->registered);
    for (unsigned i = 0; i < RL_LINK_TRIES && *socket_at(link, i) >= 0;) {
        error = rl_socket_error(*socket_at(link, i));
        if (error == 0) {
            while (i-- > 0)
                drop_at(link, 0);
            while (link->older[0] >= 0)
                drop_at(link, 1);
            return 0;
        }
        if (error == EINPROGRESS)
            i++;
        else
            drop_at(link, i);
    }
    return link->fd >= 0 ? EINPROGRESS : error;
}
