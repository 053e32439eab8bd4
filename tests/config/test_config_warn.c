/* What is warned of when a node list is loaded, and how its relative paths become absolute. */
#include "config_auto.h"

#include "conf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    unsigned nodes;
    const char *warning;
} counts[] = {
    {1, ""}, {2, "2 nodes tolerate no failure: both must be up for every lock; use 3 nodes\n"},
    {3, ""}, {4, "4 nodes tolerate no more failures than 3 do (1): use an odd number\n"},
    {5, ""}, {6, "6 nodes tolerate no more failures than 5 do (2): use an odd number\n"},
    {7, ""}, {64, "64 nodes tolerate no more failures than 63 do (31): use an odd number\n"},
};

TEST(warnings, test_counts, .rows = ROWS(counts))
{
    char text[4096] = "";
    size_t len = 0;
    for (unsigned i = 0; i < counts[_i].nodes; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "node redis://n%u\n", i);
    conf_write_text("n.conf", text, 0644);
    ck_assert_int_eq(conf_load("n.conf"), 0);
    ck_assert_str_eq(conf_warnings, counts[_i].warning);
    rl_config_free(&conf_config);
}

static const struct {
    mode_t mode;
    bool warned;
} modes[] = {{0600, false}, {0400, false}, {0700, false}, {0640, true},
             {0604, true},  {0644, true},  {0620, true},  {0601, true}};

TEST(warnings, test_file_modes, .rows = ROWS(modes))
{
    conf_write_text("n.conf", "node redis://:hunter2@a\n", modes[_i].mode);
    ck_assert_int_eq(conf_load("n.conf"), 0);
    char wanted[256];
    snprintf(wanted, sizeof(wanted),
             "n.conf: has a password in it, and others may use the file (mode %04o); chmod 600 "
             "it, or use password-file=\n",
             (unsigned)modes[_i].mode);
    ck_assert_str_eq(conf_warnings, modes[_i].warned ? wanted : "");
    rl_config_free(&conf_config);
    conf_write_text("n.conf", "node redis://locks@a\n", modes[_i].mode); /* no password in it */
    ck_assert_int_eq(conf_load("n.conf"), 0);
    ck_assert_str_eq(conf_warnings, "");
    rl_config_free(&conf_config);
}

TEST(warnings, password_in_any_line_is_warned_of)
{
    static const char *const lists[] = {"node redis://:hunter2@a\nnode redis://b\n",
                                        "node redis://a\nnode redis://:hunter2@b\n"};
    for (int i = 0; i < ROWS(lists); i++) {
        conf_write_text("n.conf", lists[i], 0644);
        ck_assert_int_eq(conf_load("n.conf"), 0);
        ck_assert_ptr_nonnull(strstr(conf_warnings, "has a password in it"));
        rl_config_free(&conf_config);
    }
}

TEST(warnings, test_secret_modes, .rows = ROWS(modes))
{
    conf_write_text("secret", "hunter2\n", modes[_i].mode);
    conf_write_text("n.conf", "node redis://a password-file=secret\n", 0644);
    ck_assert_int_eq(conf_load("n.conf"), 0);
    char wanted[256];
    snprintf(wanted, sizeof(wanted),
             "password-file %s/secret: others may use the file (mode %04o); chmod 600 it\n",
             conf_dir, (unsigned)modes[_i].mode);
    ck_assert_str_eq(conf_warnings, modes[_i].warned ? wanted : "");
    rl_config_free(&conf_config);
    conf_write_text("n.conf", "node rediss://a cert-file=c key-file=secret\n", 0644);
    ck_assert_int_eq(conf_load("n.conf"), 0);
    ck_assert_int_eq(strstr(conf_warnings, "key-file") != NULL, modes[_i].warned);
    rl_config_free(&conf_config);
}

/* A secret that is not there yet is no error: it may be when the node is connected. */
TEST(warnings, test_missing_secret)
{
    conf_write_text("n.conf", "node redis://u@a password-file=none\n", 0644);
    ck_assert_int_eq(conf_load("n.conf"), 0);
    char wanted[256];
    snprintf(wanted, sizeof(wanted),
             "redis://u@a:6379 can't be used before this is put right: password-file %s/none: "
             "No such file or directory; check the path\n",
             conf_dir);
    ck_assert_str_eq(conf_warnings, wanted);
    rl_config_free(&conf_config);
    unsetenv("RL_TEST_NONE");
    conf_write_text("n.conf", "node redis://a password-env=RL_TEST_NONE\n", 0644);
    ck_assert_int_eq(conf_load("n.conf"), 0);
    ck_assert_str_eq(conf_warnings,
                     "redis://a:6379 can't be used before this is put right: password-env "
                     "RL_TEST_NONE: this environment variable is not set\n");
    rl_config_free(&conf_config);
}

/* ---- relative paths ------------------------------------------------------------------- */

static void require_path(const char *path, const char *name)
{
    char wanted[SUITE_PATH_MAX + 64];
    snprintf(wanted, sizeof(wanted), "%s/%s", conf_dir, name);
    ck_assert_str_eq(path, wanted);
}

/* From the file's directory, whichever way the file itself was named. */
TEST(paths, test_paths_of_file)
{
    char absolute[SUITE_PATH_MAX + 64];
    snprintf(absolute, sizeof(absolute), "%s/etc/n.conf", conf_dir);
    const char *const names[] = {"etc/n.conf", absolute};
    ck_assert_int_eq(mkdir("etc", 0700), 0);
    conf_write_text(
        "etc/n.conf",
        "node rediss://a password-file=s/a ca-file=/abs/ca ca-dir=ca cert-file=c.pem "
        "key-file=../k.pem server-name=x\nnode redis://b password-env=E\n",
        0600);
    for (int i = 0; i < ROWS(names); i++) {
        ck_assert_msg(conf_load(names[i]) == 0, "%s", conf_error.text);
        const struct rl_node_config *node = &conf_config.nodes[0];
        require_path(node->password_file, "etc/s/a");
        ck_assert_str_eq(node->ca_file, "/abs/ca");
        require_path(node->ca_dir, "etc/ca");
        require_path(node->cert_file, "etc/c.pem");
        require_path(node->key_file, "etc/../k.pem");
        ck_assert_str_eq(node->server_name, "x");
        ck_assert_str_eq(conf_config.nodes[1].password_env, "E");
        rl_config_free(&conf_config);
    }
    conf_write_text("n.conf", "node redis://a password-file=s\n", 0600);
    ck_assert_int_eq(conf_load("n.conf"), 0);
    require_path(conf_config.nodes[0].password_file, "s");
    rl_config_free(&conf_config);
}

/* From the working directory where they come from code, even beside a file elsewhere. */
TEST(paths, test_paths_in_code)
{
    ck_assert_int_eq(mkdir("etc", 0700), 0);
    conf_write_text("etc/n.conf", "node redis://a password-file=s\n", 0600);
    redlock_node node = REDLOCK_NODE_INIT;
    node.url = "redis://b";
    node.password_file = "s";
    redlock_config from = REDLOCK_CONFIG_INIT;
    from.file = "etc/n.conf";
    from.nodes = &node;
    from.node_count = 1;
    ck_assert_int_eq(conf_load_config(&from), 0);
    require_path(conf_config.nodes[0].password_file, "etc/s");
    require_path(conf_config.nodes[1].password_file, "s");
    rl_config_free(&conf_config);
}

TEST(paths, test_paths_impossible)
{
    char text[RL_PATH_LIMIT + 64] = "node redis://a password-file=";
    size_t len = strlen(text);
    memset(text + len, 'x', RL_PATH_LIMIT);
    conf_write("n.conf", text, len + RL_PATH_LIMIT, 0600);
    ck_assert_int_eq(conf_load("n.conf"), REDLOCK_ECONFIG);
    ck_assert_str_eq(conf_error.text, "n.conf:1:6: the relative path in password-file can't be "
                                      "made an absolute one; write it from '/' on");
    ck_assert_uint_eq(conf_config.node_count, 0);
    /* A working directory that is gone. */
    redlock_node node = REDLOCK_NODE_INIT;
    node.url = "redis://b";
    node.password_file = "s";
    redlock_config from = REDLOCK_CONFIG_INIT;
    from.nodes = &node;
    from.node_count = 1;
    ck_assert_int_eq(mkdir("gone", 0700), 0);
    ck_assert_int_eq(chdir("gone"), 0);
    ck_assert_int_eq(rmdir("../gone"), 0);
    ck_assert_int_eq(conf_load_config(&from), REDLOCK_ECONFIG);
    ck_assert_str_eq(conf_error.text, "redis://b:6379: the relative path in password-file "
                                      "can't be made an absolute one; write it from '/' on");
}

CASE(warnings, .set_up = conf_set_up)
CASE(paths, .set_up = conf_set_up)
