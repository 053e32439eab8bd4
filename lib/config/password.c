/* password.c - rl_node_password() of config_load.h: reads a node's password from its source.
 * Shell. */
#include "config_auto.h"

#include "config/config_load.h"
#include "base/text_escape.h"
#include "config/read_file.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SHOWN 200

/* The rules are the same for all sources of a password. `source` names this one. */
static int take(const char *password, size_t len, const char *source, char *ret_password,
                char *why, size_t why_size)
{
    const char *wrong = NULL;
    if (len == 0)
        wrong = "is empty; put the password in it, or take the option out";
    else if (len > RL_PASSWORD_MAX)
        wrong = "is longer than a password can be (512 bytes)";
    else if (memchr(password, '\0', len))
        wrong = "has a NUL byte in it; a password is text";
    else if (memchr(password, '\n', len) || memchr(password, '\r', len))
        wrong = "has a newline in it; a password is one line";
    _Static_assert(RL_PASSWORD_MAX == 512, "the text above names the limit");
    if (wrong) {
        snprintf(why, why_size, "%s %s", source, wrong);
        return -1;
    }
    memcpy(ret_password, password, len);
    ret_password[len] = '\0';
    return (int)len;
}

/* Editors add "\n" or "\r\n" at the end: it is not part of the password. */
static size_t without_newline(const char *text, size_t len)
{
    if (len > 0 && text[len - 1] == '\n')
        len--;
    else
        return len;
    return len > 0 && text[len - 1] == '\r' ? len - 1 : len;
}

static int from_file(const char *path, char *ret_password, char *why, size_t why_size)
{
    char source[PATH_SHOWN + 16] = "password-file ";
    rl_text_escape(source + strlen(source), PATH_SHOWN, path, strlen(path));
    char text[RL_PASSWORD_MAX + 3]; /* a newline, and one byte to see that it is too long */
    size_t len = 0;
    mode_t mode = 0;
    int error = 0;
    char wrong[160];
    if (rl_read_file(path, text, sizeof(text), &len, &mode, &error, wrong, sizeof(wrong)) < 0) {
        snprintf(why, why_size, "%s: %s", source, wrong);
        return -1;
    }
    int result = take(text, without_newline(text, len), source, ret_password, why, why_size);
    rl_wipe(text, sizeof(text));
    return result;
}

static int from_environment(const char *name, char *ret_password, char *why, size_t why_size)
{
    char source[RL_USER_MAX + 32];
    snprintf(source, sizeof(source), "password-env %s", name);
    const char *value = getenv(name);
    if (!value) {
        snprintf(why, why_size, "%s: this environment variable is not set", source);
        return -1;
    }
    return take(value, strlen(value), source, ret_password, why, why_size);
}

int rl_node_password(const struct rl_node_config *node, char *ret_password, char *why,
                     size_t why_size)
{
    assert(why_size > 0);
    if (node->password_file)
        return from_file(node->password_file, ret_password, why, why_size);
    if (node->password_env)
        return from_environment(node->password_env, ret_password, why, why_size);
    if (node->password)
        return take(node->password, strlen(node->password), "the URL's password", ret_password,
                    why, why_size);
    return 0;
}
