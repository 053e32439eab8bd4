/* server_talk.h - the masters as sockets: addresses, requests as bytes, and the ends of
 * replies. Also a plain blocking connection, which looks at a master without the library. */
#ifndef SERVER_TALK_H
#define SERVER_TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* One master. The maker of the list owns the strings. */
struct server_at {
    const char *path; /* unix socket, or NULL: */
    const char *host;
    int port;
    int db;
    const char *user; /* NULL, as password */
    const char *password;
};

/* A connected socket, close-on-exec and blocking; without Nagle's delay. -1: errno. */
int server_connect(const struct server_at *node);

/* The same, with a time limit for connecting, and for each read or write. */
int server_connect_within(const struct server_at *node, int limit_ms);

/* The bytes of a request. Returns their number; 0: no room. */
size_t server_encode(char *buffer, size_t size, size_t argc, const char *const *argv);

/* The length of the first whole reply in `bytes`; 0: there is none yet; -1: not a reply. */
ssize_t server_reply_length(const char *bytes, size_t len);

/* Send all bytes on a blocking socket. False: errno. */
bool server_send_all(int fd, const char *bytes, size_t len);

/* Ask one thing at a time. */
struct server_talk {
    int fd;
    size_t len; /* bytes in the buffer */
    char buffer[16384];
};

/* Connects, AUTHs and SELECTs. False: errno, or EPROTO where the master refused. */
bool server_talk_open(struct server_talk *talk, const struct server_at *node);
bool server_talk_open_within(struct server_talk *talk, const struct server_at *node,
                             int limit_ms);
void server_talk_close(struct server_talk *talk);

/* Send a request and wait for its reply, at most 5 s, or the limit. The text after the type
 * byte, without length and CRLF, goes to `ret_text` cut to fit. Returns the type byte:
 *   + - : $ * (an array's text is its raw bytes), 0 if the connection broke. */
char server_talk_ask(struct server_talk *talk, size_t argc, const char *const *argv,
                     char *ret_text, size_t size);

/* The same for a request in words parted by spaces: "EXISTS name". */
char server_talk_say(struct server_talk *talk, const char *words, char *ret_text, size_t size);

#endif
