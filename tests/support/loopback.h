/* loopback.h - servers on addresses of this machine's own: 127.0.0.2, 127.0.0.3, ::1, ... */
#ifndef TEST_LOOPBACK_H
#define TEST_LOOPBACK_H

/* Listen on this address and port; never fails but by ending the program. */
int loopback_listen(const char *address, int port, int backlog);

/* Make this address of 127/8 one that answers no SYN: its backlog is full. Returns who listens
 * there: with a longer backlog it answers. */
int loopback_black_hole(const char *address, int port);

/* `format` with the port in place of each %d; good until the next call. */
const char *loopback_text(const char *format, int port);

#endif
