/* input_link.c - see input_link.h. It stands in for lib/net/link.c. */
#include "config_auto.h"

#include "fuzz.h"
#include "input_link.h"
#include "net/resolve.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct rl_link {
    enum rl_link_state state;
    const uint8_t *bytes; /* received and not read yet */
    size_t len;
    bool ended;
    size_t sent;
};

struct rl_link *rl_link_new(const struct rl_node_config *node, struct rl_tls_context *tls,
                            int epoll_fd, int wake_fd, void *tag)
{
    (void)node, (void)tls, (void)epoll_fd, (void)wake_fd, (void)tag;
    return calloc(1, sizeof(struct rl_link));
}

void rl_link_free(struct rl_link *link)
{
    free(link);
}

void rl_link_free_in_child(struct rl_link *link)
{
    free(link);
}

void rl_link_open(struct rl_link *link, int64_t now_ns, int64_t deadline_ns)
{
    REQUIRE(link->state == RL_LINK_IDLE && deadline_ns > now_ns);
    *link = (struct rl_link){.state = RL_LINK_OPEN};
}

void rl_link_close(struct rl_link *link)
{
    *link = (struct rl_link){.state = RL_LINK_IDLE};
}

void rl_link_abort(struct rl_link *link)
{
    rl_link_close(link);
}

enum rl_link_state rl_link_state(const struct rl_link *link)
{
    return link->state;
}

const struct rl_addresses *rl_link_addresses(const struct rl_link *link)
{
    static const struct rl_addresses none = {0};
    (void)link;
    return &none;
}

const struct rl_address *rl_link_address(const struct rl_link *link)
{
    (void)link;
    return NULL;
}

void rl_link_readdress(struct rl_link *link)
{
    (void)link;
}

void rl_link_set_order(struct rl_link *link, rl_order_fn *order, void *context)
{
    (void)link, (void)order, (void)context;
}

const char *rl_link_text(const struct rl_link *link)
{
    (void)link;
    return "the input says so";
}

void rl_link_step(struct rl_link *link, unsigned epoll_events, int64_t now_ns)
{
    (void)link, (void)epoll_events, (void)now_ns;
}

void rl_link_absent(struct rl_link *link, int64_t absent_ns)
{
    (void)link, (void)absent_ns;
}

int64_t rl_link_due_ns(const struct rl_link *link)
{
    (void)link;
    return INT64_MAX;
}

ssize_t rl_link_send(struct rl_link *link, const void *bytes, size_t len)
{
    (void)bytes;
    link->sent += len;
    return (ssize_t)len;
}

ssize_t rl_link_recv(struct rl_link *link, void *bytes, size_t len)
{
    size_t take = link->len < len ? link->len : len;
    if (take == 0 && link->ended) {
        link->state = RL_LINK_FAILED;
        return -1;
    }
    if (take == 0)
        return 0;
    memcpy(bytes, link->bytes, take);
    link->bytes += take;
    link->len -= take;
    return (ssize_t)take;
}

bool rl_link_blocked(const struct rl_link *link)
{
    (void)link;
    return false;
}

bool input_link_give(struct rl_link *link, const void *bytes, size_t len)
{
    if (link->state != RL_LINK_OPEN)
        return false;
    link->bytes = bytes;
    link->len = len;
    return true;
}

void input_link_forget(struct rl_link *link)
{
    link->bytes = NULL;
    link->len = 0;
}

void input_link_end(struct rl_link *link)
{
    link->ended = true;
}

/* ---- what may be shown ------------------------------------------------------------------ */

const char *input_secret;

static const char *const forms[] = {INPUT_SECRET, "h\\\"%n\\x20tr", "h%22%25n%20tr"};
enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

size_t input_echo(char *ret_bytes, size_t size, const char *error, unsigned how)
{
    int len = snprintf(ret_bytes, size, "-%s '%s' %.*s\r\n", error, forms[how % FORMS],
                       (int)(how / FORMS % 8), forms[how / FORMS % FORMS]);
    return (size_t)len;
}

/* A code point's bytes, counted by its first; 0: it begins none that may be shown. Written
 * anew, and not as lib/base/text_escape.c has it: a decoder, and what may not come out of it.
 */
static unsigned code_point(const unsigned char *at)
{
    unsigned len = at[0] < 0x80 ? 1 : at[0] >> 5 == 6 ? 2 : at[0] >> 4 == 14 ? 3 : 4;
    unsigned long code = len == 1 ? at[0] : at[0] & (0x7fU >> len);
    static const unsigned long least[] = {0, 0x20, 0xa0, 0x800, 0x10000};
    if (at[0] >= 0xf8 || (at[0] >= 0x80 && at[0] < 0xc0))
        return 0;
    for (unsigned i = 1; i < len; i++) {
        if (at[i] >> 6 != 2)
            return 0;
        code = code << 6 | (at[i] & 0x3f);
    }
    bool bad = code < least[len] || code == 0x7f || code > 0x10ffff ||
               (code >= 0xd800 && code <= 0xdfff);
    return bad ? 0 : len;
}

void input_shown(const char *text)
{
    for (const char *at = text; *at;) {
        unsigned len = code_point((const unsigned char *)at);
        REQUIRE(len > 0);
        at += len;
    }
    for (unsigned i = 0; input_secret && i < FORMS; i++)
        REQUIRE(!strstr(text, forms[i]));
}

void input_log(void *owner, int level, const char *format, ...)
{
    char text[512];
    va_list args;
    (void)owner, (void)level;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    input_shown(text);
}
