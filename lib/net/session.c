/* session.c - see session.h. */
#include "config_auto.h"

#include "net/session.h"

#include "base/wipe.h"
#include "config/config_load.h"
#include "net/tls.h"

#include <assert.h>

_Static_assert(RL_LOGIN_MAX <= RL_OUT_MIN, "every connection has room for a login");

int rl_login_put(struct rl_out *out, const struct rl_node_config *config, struct rl_mask *mask,
                 char *why, size_t why_size)
{
    char password[RL_PASSWORD_MAX + 1];
    int len = rl_node_password(config, password, why, why_size);
    assert(len <= RL_PASSWORD_MAX && !mask->password_len);
    if (len <= 0)
        return len;
    rl_put_array(out, config->user ? 3 : 2);
    rl_put_text(out, "AUTH");
    if (config->user)
        rl_put_text(out, config->user);
    rl_put_bulk(out, password, (size_t)len);
    rl_mask_set(mask, config->user, password, (size_t)len);
    rl_wipe(password, sizeof(password));
    return 0;
}

void rl_login_put_name(struct rl_out *out, const char *name)
{
    assert(name[0]);
    rl_put_array(out, 3);
    rl_put_text(out, "CLIENT");
    rl_put_text(out, "SETNAME");
    rl_put_text(out, name);
}

bool rl_login_accepted(const struct rl_reply *reply)
{
    return reply->type == RL_REPLY_STATUS && rl_part_is(reply, 0, "OK", 2);
}

int rl_session_connect(struct rl_connection *connection, int64_t now_ns, int64_t deadline_ns,
                       void (*log)(void *owner, int level, const char *format, ...),
                       void *owner)
{
    char why[160];
    const struct rl_node_config *config = connection->config;
    assert(log && deadline_ns > now_ns);
    if (rl_connection_reset(connection))
        return REDLOCK_ENOMEM;
    if (connection->tls && !rl_tls_context_renew(connection->tls, config, why, sizeof(why)))
        log(owner, REDLOCK_LOG_WARNING, "%s: %s; what was read before stays in use",
            config->label, why);
    rl_link_open(connection->link, now_ns, deadline_ns);
    return 0;
}

/* R12: AUTH alone, and nothing before its reply. */
int rl_session_login(struct rl_connection *connection, int64_t now_ns, int64_t deadline_ns,
                     char *why, size_t why_size)
{
    char bytes[RL_LOGIN_MAX];
    struct rl_inflight inflight = {
        .type = RL_REQUEST_AUTH, .sent_ns = now_ns, .deadline_ns = deadline_ns};
    struct rl_out out;
    assert(connection->fifo_count == 0 && !rl_connection_unsent(connection));
    rl_out_init(&out, bytes, sizeof(bytes));
    int result = rl_login_put(&out, connection->config, &connection->mask, why, why_size);
    assert(!out.overflow); /* RL_LOGIN_MAX */
    if (result == 0 && out.len > 0) {
        rl_connection_put_login(connection, bytes, out.len, &inflight);
        result = 1;
    }
    rl_wipe(bytes, sizeof(bytes));
    return result;
}

const char *rl_session_failure(const struct rl_connection *connection, bool greeting)
{
    return greeting && connection->why[0] ? connection->why : rl_link_text(connection->link);
}

const char *rl_session_silence(bool connected)
{
    return connected ? "connected, but no answer within connect-timeout"
                     : "no answer within connect-timeout";
}
