/* read_file.h - read a file that is known to be small: node lists, passwords. Shell. */
#ifndef RL_READ_FILE_H
#define RL_READ_FILE_H

#include <stddef.h>
#include <sys/types.h>

/* Up to `size` bytes of a regular file; anything else (a directory, a pipe, which could make
 * us wait, a device) is refused. 0, with the number of bytes got (`size`: there may be more)
 * and the file's mode. Or -1, with errno in `ret_errno` and the reason in `why`, which has no
 * path in it. */
int rl_read_file(const char *path, void *ret_bytes, size_t size, size_t *ret_len,
                 mode_t *ret_mode, int *ret_errno, char *why, size_t why_size);

/* What may help where a file can't be opened, to be put behind the text of that errno. */
const char *rl_read_remedy(int error);

#endif
