/* sim_fortified.c - system calls under the names that _FORTIFY_SOURCE gives them. */
#include "config_auto.h"

#include "sim_parts.h"
#include "sim_real.h"

static void check(size_t size, size_t room)
{
    if (size > room)
        sim_die("%zu bytes are asked for where there is room for %zu", size, room);
}

ssize_t sim_bound___read_chk(int fd, void *ret_bytes, size_t size, size_t room)
{
    check(size, room);
    return sim_bound_read(fd, ret_bytes, size);
}

ssize_t sim_bound___recv_chk(int fd, void *ret_bytes, size_t size, size_t room, int flags)
{
    check(size, room);
    return sim_bound_recv(fd, ret_bytes, size, flags);
}

int sim_bound___poll_chk(struct pollfd *fds, nfds_t count, int timeout_ms, size_t room)
{
    check(count * sizeof(*fds), room);
    return sim_bound_poll(fds, count, timeout_ms);
}

int sim_bound___gethostname_chk(char *ret_name, size_t size, size_t room)
{
    check(size, room);
    return sim_bound_gethostname(ret_name, size);
}
