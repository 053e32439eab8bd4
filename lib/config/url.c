/* url.c - see url.h. Core. */
#include "config_auto.h"

#include "base/client_name.h"
#include "base/text.h"
#include "config/host.h"
#include "config/url.h"
#include "config/url_text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A URL that is being taken apart: from `at` on it is still to be read. */
struct url {
    const char *text;
    size_t at;
    size_t len;
    struct rl_node_config *node;
    struct rl_problem *problem;
    bool sentinels; /* its hosts are those of Sentinels */
};

static const char url_forms[] =
    "write redis://host:port, rediss://host:port or unix:///path of a socket";

static int fail(struct url *url, size_t offset, const char *what)
{
    return rl_problem_set(url->problem, offset, "%s", what);
}

/* Where the first of `stops` stands in [start, end); `end` if none does. */
static size_t find_first(const struct url *url, size_t start, size_t end, const char *stops)
{
    size_t at = start;
    while (at < end && !strchr(stops, url->text[at]))
        at++;
    return at;
}

static int check_bytes(struct url *url)
{
    if (url->len == 0)
        return rl_problem_set(url->problem, 0, "the URL is empty; %s", url_forms);
    if (url->len > RL_URL_MAX)
        return rl_problem_set(url->problem, RL_URL_MAX, "a URL has at most %d bytes",
                              RL_URL_MAX);
    for (size_t i = 0; i < url->len; i++) {
        unsigned char byte = (unsigned char)url->text[i];
        if (byte <= ' ' || byte == 0x7f)
            return rl_problem_set(
                url->problem, i,
                "a URL has no blanks and no control bytes; write this one as %%%02X",
                (unsigned)byte);
        if (byte == '#')
            return fail(url, i, "a URL of a master has no '#' part; write %23 for a '#' in it");
    }
    return 0;
}

/* `name` is in lower case; the case of `text` does not count. */
static bool same_letters(const char *text, const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (rl_lower(text[i]) != name[i])
            return false;
    }
    return true;
}

static int parse_scheme(struct url *url)
{
    static const struct {
        const char *name;
        enum rl_transport transport;
        bool sentinels;
    } schemes[] = {{"redis://", RL_TCP, false},
                   {"rediss://", RL_TLS, false},
                   {"unix://", RL_UNIX, false},
                   {"redis+sentinel://", RL_TCP, true},
                   {"rediss+sentinel://", RL_TLS, true}};

    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        size_t len = strlen(schemes[i].name);
        if (url->len >= len && same_letters(url->text, schemes[i].name, len)) {
            url->node->transport = schemes[i].transport;
            url->sentinels = schemes[i].sentinels;
            url->at = len;
            return 0;
        }
    }
    return rl_problem_set(url->problem, 0, "not a URL of a master; %s", url_forms);
}

/* user[:password]@, where there is an '@' before `end`. */
static int parse_user(struct url *url, size_t end)
{
    static const struct rl_url_field user = {"user name", RL_USER_MAX};
    static const struct rl_url_field password = {"password", RL_PASSWORD_MAX};

    size_t sign = find_first(url, url->at, end, "@");
    if (sign == end)
        return 0;
    size_t second = find_first(url, sign + 1, end, "@");
    if (second < end)
        return fail(url, sign,
                    "two '@' before the host; write %40 for an '@' in a user name or password");
    size_t colon = find_first(url, url->at, sign, ":");
    int code = rl_url_decode(url->text, url->at, colon, &user, &url->node->user, url->problem);
    if (code == 0 && colon < sign)
        code = rl_url_decode(url->text, colon + 1, sign, &password, &url->node->password,
                             url->problem);
    url->at = sign + 1;
    return code;
}

/* A decimal number that fills [start, end); -1: it is none, or it is over `max`. */
static int parse_number(const struct url *url, size_t start, size_t end, int max)
{
    int number = start < end ? 0 : -1;
    for (size_t i = start; i < end; i++) {
        int digit = url->text[i] - '0';
        if (digit < 0 || digit > 9 || number > (max - digit) / 10)
            return -1;
        number = number * 10 + digit;
    }
    return number;
}

static int parse_port(struct url *url, size_t colon, size_t end)
{
    url->node->port = url->sentinels ? RL_SENTINEL_PORT : RL_DEFAULT_PORT;
    if (colon == end)
        return 0;
    url->node->port = parse_number(url, colon + 1, end, 65535);
    if (url->node->port >= 1)
        return 0;
    if (find_first(url, colon + 1, end, ":") < end)
        return fail(url, url->at,
                    "an IPv6 address stands in brackets, as in [2001:db8::1]:6379");
    return fail(url, colon + 1, "the port is a number from 1 to 65535, as in localhost:6379");
}

/* The address between brackets. Its zone's '%' is itself written %25 in a URL (RFC 6874). */
static int parse_bracketed(struct url *url, size_t end)
{
    static const struct rl_url_field address = {"address", RL_HOST_MAX};

    size_t close = find_first(url, url->at, end, "]");
    if (close == end)
        return fail(url, url->at, "no ']' after the IPv6 address; write [2001:db8::1]:6379");
    size_t start = url->at + 1;
    if (close + 1 < end && url->text[close + 1] != ':')
        return fail(url, close + 1, "only a port can follow the ']', as in [2001:db8::1]:6379");
    char *decoded = NULL;
    int code = rl_url_decode(url->text, start, close, &address, &decoded, url->problem);
    if (code < 0)
        return code;
    if (!decoded || !strchr(decoded, ':')) {
        free(decoded);
        return fail(url, start, "only IPv6 addresses stand in brackets, as in [2001:db8::1]");
    }
    code = rl_host_parse(decoded, strlen(decoded), &url->node->host, url->problem);
    free(decoded);
    if (code < 0) {
        url->problem->offset = start;
        return code;
    }
    return parse_port(url, close + 1, end);
}

static int parse_host(struct url *url, size_t end)
{
    if (url->at < end && url->text[url->at] == '[')
        return parse_bracketed(url, end);
    size_t colon = find_first(url, url->at, end, ":");
    int code = parse_port(url, colon, end);
    if (code < 0)
        return code;
    code = rl_host_parse(url->text + url->at, colon - url->at, &url->node->host, url->problem);
    if (code < 0)
        url->problem->offset += url->at;
    return code;
}

static const char sentinel_forms[] =
    "name 3 to 6 Sentinels and their service, as in redis+sentinel://host1,host2,host3/SERVICE";

/* The Sentinels' hosts, up to `end`: a majority of fewer than 3 outlives none of them. */
static int parse_sentinels(struct url *url, size_t end)
{
    struct rl_node_config *node = url->node;
    for (size_t at = url->at;; at = url->at + 1) {
        url->at = at;
        size_t comma = find_first(url, at, end, ",");
        if (node->sentinel_count == RL_SENTINELS_MAX)
            return fail(url, at, sentinel_forms);
        int code = parse_host(url, comma);
        if (code < 0)
            return code;
        struct rl_sentinel_at *sentinel = &node->sentinel[node->sentinel_count++];
        *sentinel = (struct rl_sentinel_at){.host = node->host, .port = node->port};
        node->host = NULL;
        node->port = 0;
        for (const struct rl_sentinel_at *other = node->sentinel; other < sentinel; other++) {
            if (rl_place_equal(other->host, other->port, sentinel->host, sentinel->port))
                return fail(url, at, "this Sentinel stands in front already; name each once");
        }
        url->at = comma;
        if (comma == end)
            break;
    }
    return node->sentinel_count < RL_SENTINELS_MIN ? fail(url, end, sentinel_forms) : 0;
}

/* /SERVICE, at `start`: bytes that Sentinel takes for one. */
static int parse_service(struct url *url, size_t start, size_t end)
{
    static const struct rl_url_field field = {"service's name", RL_SERVICE_MAX};

    int code = start < end ? rl_url_decode(url->text, start + 1, end, &field,
                                           &url->node->service, url->problem)
                           : 0;
    if (code < 0)
        return code;
    if (!url->node->service)
        return fail(url, start, sentinel_forms);
    for (const char *at = url->node->service; *at; at++) {
        if (!rl_host_byte(*at))
            return fail(url, start + 1, "a service's name has letters, digits and . - _ only");
    }
    return 0;
}

static int parse_db(struct url *url, size_t start, size_t end)
{
    url->node->db = parse_number(url, start, end, 999999999);
    if (url->node->db >= 0)
        return 0;
    return fail(
        url, start,
        "the database is a number, as in redis://host:6379/1 or unix:///run/redis.sock?db=1");
}

/* [user[:password]@]host[:port][/db] */
static int parse_network(struct url *url)
{
    size_t end = find_first(url, url->at, url->len, "/?");
    /* An unescaped '/' in a password would make the rest of it look like host and port. */
    if (find_first(url, end, url->len, "@") < url->len)
        return fail(url, end,
                    "an '@' after the host; write %2F for '/', %3F for '?' and %40 for '@' in "
                    "a user name or password");
    int code = parse_user(url, end);
    if (code == 0)
        code = url->sentinels ? parse_sentinels(url, end) : parse_host(url, end);
    if (code == 0 && url->sentinels) {
        size_t service = end;
        end = find_first(url, end == url->len ? end : end + 1, url->len, "/?");
        code = parse_service(url, service, end);
    }
    if (code < 0 || end == url->len)
        return code;
    size_t query = find_first(url, end, url->len, "?");
    if (query < url->len)
        return fail(url, query,
                    "no '?' here; the database follows the port, as in redis://host:6379/1");
    return end + 1 == url->len ? 0 : parse_db(url, end + 1, url->len);
}

/* [user[:password]@]/path[?db=N] */
static int parse_unix(struct url *url)
{
    static const struct rl_url_field path = {"socket's path", RL_UNIX_PATH_MAX};
    static const char option[] = "?db=";

    size_t slash = find_first(url, url->at, url->len, "/?");
    int code = parse_user(url, slash);
    if (code < 0)
        return code;
    if (slash > url->at || slash == url->len || url->text[slash] != '/')
        return fail(url, url->at,
                    "the path of a socket begins with '/', as in unix:///run/redis.sock; write "
                    "%2F for a '/' in a user name or password");
    size_t query = find_first(url, slash, url->len, "?");
    code = rl_url_decode(url->text, slash, query, &path, &url->node->path, url->problem);
    if (code < 0)
        return code;
    rl_path_tidy(url->node->path);
    if (url->node->path[strlen(url->node->path) - 1] == '/')
        return fail(url, query, "the path of a socket can't end with '/'");
    if (query == url->len)
        return 0;
    size_t option_len = strlen(option);
    if (url->len - query < option_len || memcmp(url->text + query, option, option_len) != 0)
        return fail(url, query, "only ?db=N can follow the path; write %3F for a '?' in it");
    return parse_db(url, query + option_len, url->len);
}

int rl_url_parse(const char *text, size_t len, struct rl_node_config *node,
                 struct rl_problem *problem)
{
    assert(text || len == 0);
    assert(!node->host && !node->path && !node->user && !node->password && !node->label);
    struct url url = {.text = text, .len = len, .node = node, .problem = problem};
    int code = check_bytes(&url);
    if (code == 0)
        code = parse_scheme(&url);
    if (code == 0)
        code = node->transport == RL_UNIX ? parse_unix(&url) : parse_network(&url);
    if (code == 0)
        code = rl_url_label(node, problem);
    assert(code < 0 || (node->label && !node->host == (node->service || node->path)));
    return code;
}
