/* No error text gives a password away, however wrong the line is that it stands in. */
#include "config_auto.h"

#include "conf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECRET "hunter2Xyzzy"

static redlock_error error;

static int parse(const char *text, size_t len)
{
    struct rl_config config;
    int code = conf_parse(text, len, &config, &error);
    rl_config_free(&config);
    return code;
}

/* Any five letters of it in a row would be too much. */
static void require_silence(const char *line)
{
    static const char secret[] = SECRET;
    for (size_t i = 0; i + 5 < sizeof(secret); i++) {
        char part[6];
        snprintf(part, sizeof(part), "%.5s", secret + i);
        ck_assert_msg(!strcasestr(error.text, part), "%s: %s", line, error.text);
    }
}

static const char *const lines[] = {
    "node redis://u:" SECRET "@h:x",
    "node redis://u:" SECRET "@h:99999",
    "node redis://u:" SECRET "@h/x",
    "node redis://u:" SECRET "@h/1?x",
    "node redis://u:" SECRET "@h#x",
    "node redis://u:" SECRET "@",
    "node redis://u:" SECRET,
    "node redis://:" SECRET,
    "node redis://" SECRET "!",
    "node redis://u:" SECRET "/more@h:1",
    "node redis://u:more/" SECRET "@h:1",
    "node redis://u:1/" SECRET "@h:1",
    "node redis://u:1?" SECRET "@h:1",
    "node redis://u:" SECRET "@more@h:1",
    "node redis://u:more@" SECRET "@h:1",
    "node redis://u:" SECRET "%zz@h",
    "node redis://u:" SECRET "%00@h",
    "node redis://u:more%0a" SECRET "@h",
    "node redis://u:" SECRET " @h",
    "node redis://u: " SECRET "@h",
    "node \"redis://u: " SECRET "@h\"",
    "node \"redis://u:" SECRET "@h",
    "node redis://u:\"" SECRET " more\"@h",
    "node redis://[u:" SECRET,
    "node redis://[" SECRET "]",
    "node redis://[::1%25" SECRET "!]",
    "node redis:// :" SECRET "@h",
    "node redis:/u:" SECRET "@h",
    "node redis//u:" SECRET "@h",
    "node http://u:" SECRET "@h",
    "node u:" SECRET "@h",
    "node " SECRET " redis://h",
    "node " SECRET,
    "node unix://u:" SECRET "@h/x",
    "node unix://u:" SECRET "@/x/",
    "node unix://u:" SECRET "/more@/x",
    "node unix://u:" SECRET "@/x?y",
    "node redis://h " SECRET,
    "node redis://h " SECRET "=x",
    "node redis://h password=" SECRET,
    "node redis://h password " SECRET,
    "node redis://h --password=" SECRET,
    "node redis://h user=" SECRET,
    "node redis://h password-env=" SECRET "!",
    "node redis://h password-env=\"" SECRET,
    "node redis://h password-file=\"" SECRET "\"more",
    "node redis://h password-file=x password-file=" SECRET,
    "node redis://u:" SECRET "@h password-file=x",
    "node redis://u:" SECRET "@h password-env=x",
    "node redis://u:" SECRET "@h ca-file=x",
    "node redis://u:" SECRET "@h\nnode redis://h",
    "node redis://h\nnode redis://u:" SECRET "@h",
    "node redis://u:" SECRET "@h\nttl 1h",
    "node redis://u:" SECRET "@h\x01",
    "redis://u:" SECRET "@h",
    "u:" SECRET "@h",
    SECRET,
    SECRET "=x",
    "requirepass " SECRET,
    "password " SECRET,
    "password-env=" SECRET,
    "masterauth = " SECRET,
    "ttl " SECRET,
    "ttl 5s " SECRET,
    "ttl = " SECRET,
    "max-ttl=" SECRET,
    "drift-factor " SECRET,
    "guard " SECRET,
    "background " SECRET,
    "client-name " SECRET "!",
    "client-name x " SECRET,
    "status-prefix x " SECRET,
};

TEST(texts, test_lines, .rows = ROWS(lines))
{
    ck_assert_msg(parse(lines[_i], strlen(lines[_i])) == REDLOCK_ECONFIG, "%s was taken",
                  lines[_i]);
    require_silence(lines[_i]);
}

/* The same lines with bytes outside the secret changed, dropped and put in, at random. */
TEST(texts, test_mutations)
{
    static const char bytes[] = ":@/?#%[]\" \t\n=.-_01axz!\r\\$&+,;*";
    srand(7);
    unsigned refused = 0;
    for (int round = 0; round < 60000; round++) {
        char text[256];
        const char *line = lines[rand() % ROWS(lines)];
        size_t len = (size_t)snprintf(text, sizeof(text), "%s", line);
        for (int edits = 1 + rand() % 4; edits > 0; edits--) {
            size_t start = (size_t)(strstr(text, SECRET) - text);
            size_t end = start + strlen(SECRET);
            size_t at = (size_t)rand() % (len + 1);
            char byte = bytes[(size_t)rand() % (sizeof(bytes) - 1)];
            if (at > start && at < end)
                continue;
            if (rand() % 2 || at == len || at == start) {
                memmove(text + at + 1, text + at, len - at + 1);
                text[at] = byte;
                len++;
            } else if (rand() % 2) {
                memmove(text + at, text + at + 1, len - at);
                len--;
            } else {
                text[at] = byte;
            }
        }
        if (parse(text, len) == REDLOCK_ECONFIG) {
            refused++;
            require_silence(text);
        }
    }
    ck_assert_uint_gt(refused, 30000);
}

/* Built in code: the same texts, as URL and as options. */
TEST(texts, test_in_code)
{
    for (int i = 0; i < ROWS(lines); i++) {
        const char *url = lines[i] + (strncmp(lines[i], "node ", 5) == 0 ? 5 : 0);
        redlock_node nodes[] = {REDLOCK_NODE_INIT, REDLOCK_NODE_INIT, REDLOCK_NODE_INIT};
        nodes[0].url = url;
        nodes[1].url = "rediss://h";
        nodes[1].server_name = url;
        nodes[2].url = "redis://h";
        nodes[2].password_env = url;
        for (size_t j = 0; j < 3; j++) {
            struct rl_config config;
            error = (redlock_error)REDLOCK_ERROR_INIT;
            rl_config_init(&config);
            int code = rl_config_add_node(&config, &nodes[j], j, &error);
            if (code == 0)
                code = rl_config_check(&config, &error);
            rl_config_free(&config);
            if (code < 0)
                require_silence(url);
        }
    }
}

/* Labels are what people are shown: the user is in them, the password never. */
TEST(texts, test_labels)
{
    static const char *const urls[] = {"redis://u:" SECRET "@h", "rediss://:" SECRET "@h:1/2",
                                       "unix://u:" SECRET "@/x?db=1",
                                       "redis://u:a:" SECRET ":b@[::1]"};
    for (int i = 0; i < ROWS(urls); i++) {
        redlock_node node = REDLOCK_NODE_INIT;
        node.url = urls[i];
        struct rl_config config;
        rl_config_init(&config);
        ck_assert_int_eq(rl_config_add_node(&config, &node, 0, &error), 0);
        ck_assert_ptr_null(strstr(config.nodes[0].label, SECRET));
        ck_assert_ptr_nonnull(strstr(config.nodes[0].password, SECRET));
        rl_config_free(&config);
    }
}

CASE(texts, .timeout_s = 30)
