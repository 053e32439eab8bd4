/* read_file.c - see read_file.h. Shell. */
#include "config_auto.h"

#include "config/read_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *rl_read_remedy(int error)
{
    if (error == ENOENT || error == ENOTDIR)
        return "; check the path";
    if (error == EACCES)
        return "; make it readable for the user who runs this";
    return "";
}

static int fail(int error, int *ret_errno, char *why, size_t why_size)
{
    /* %m, because there are two forms of strerror_r(), and musl has the other one. */
    errno = error;
    snprintf(why, why_size, "%m%s", rl_read_remedy(error));
    *ret_errno = error;
    return -1;
}

static int refuse(mode_t mode, int *ret_errno, char *why, size_t why_size)
{
    const char *kind = S_ISDIR(mode)    ? "a directory"
                       : S_ISFIFO(mode) ? "a pipe"
                       : S_ISSOCK(mode) ? "a socket"
                                        : "a device";
    snprintf(why, why_size, "is %s; give a regular file", kind);
    *ret_errno = S_ISDIR(mode) ? EISDIR : EINVAL;
    return -1;
}

/* Up to `size` bytes, or -1 with errno. */
static ssize_t read_all(int fd, char *bytes, size_t size)
{
    size_t len = 0;
    while (len < size) {
        ssize_t got = read(fd, bytes + len, size - len);
        if (got == 0)
            break;
        if (got > 0)
            len += (size_t)got;
        else if (errno != EINTR)
            return -1;
    }
    return (ssize_t)len;
}

int rl_read_file(const char *path, void *ret_bytes, size_t size, size_t *ret_len,
                 mode_t *ret_mode, int *ret_errno, char *why, size_t why_size)
{
    assert(why_size > 0);
    /* O_NONBLOCK: opening a pipe that nobody writes to would wait. */
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    if (fd < 0 && errno == ENXIO) /* what open() says of a socket */
        return refuse(S_IFSOCK, ret_errno, why, why_size);
    if (fd < 0)
        return fail(errno, ret_errno, why, why_size);
    int result = -1;
    struct stat status;
    if (fstat(fd, &status) < 0) {
        fail(errno, ret_errno, why, why_size);
    } else if (!S_ISREG(status.st_mode)) {
        refuse(status.st_mode, ret_errno, why, why_size);
    } else {
        ssize_t len = read_all(fd, ret_bytes, size);
        result = len < 0 ? fail(errno, ret_errno, why, why_size) : 0;
        *ret_len = len < 0 ? 0 : (size_t)len;
        *ret_mode = status.st_mode & 07777;
    }
    close(fd);
    return result;
}
