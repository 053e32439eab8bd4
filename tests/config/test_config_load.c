/* The node list file on disk: how it is read, and what can't be. */
#include "config_auto.h"

#include "conf.h"
#include "config/read_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

TEST(read, test_good)
{
    conf_write_text("n.conf", "node redis://a\nnode redis://b\nnode redis://c\nttl 5s\n", 0644);
    ck_assert_msg(conf_load("n.conf") == 0, "%s", conf_error.text);
    ck_assert_uint_eq(conf_config.node_count, 3);
    ck_assert_int_eq(conf_config.ttl_ms, 5000);
    ck_assert_str_eq(conf_warnings, "");
    rl_config_free(&conf_config);
}

TEST(read, test_error_in_file)
{
    conf_write_text("n.conf", "node redis://a\n  tll 5s\n", 0600);
    ck_assert_int_eq(conf_load("n.conf"), REDLOCK_ECONFIG);
    ck_assert_str_eq(conf_error.text, "n.conf:2:3: unknown directive; did you mean ttl?");
    ck_assert_uint_eq(conf_config.node_count, 0);
}

TEST(read, test_missing)
{
    ck_assert_int_eq(conf_load("none.conf"), REDLOCK_ECONFIG);
    ck_assert_str_eq(conf_error.text, "none.conf: No such file or directory; check the path");
    ck_assert_int_eq(conf_error.code, REDLOCK_ECONFIG);
    ck_assert_int_eq(conf_error.line, 0);
    ck_assert_int_eq(conf_error.column, 0);
    conf_write_text("file", "", 0600);
    ck_assert_int_eq(conf_load("file/none.conf"), REDLOCK_ECONFIG);
    ck_assert_str_eq(conf_error.text, "file/none.conf: Not a directory; check the path");
    ck_assert_int_eq(symlink("loop", "loop"), 0);
    ck_assert_int_eq(conf_load("loop"), REDLOCK_ECONFIG);
    ck_assert_ptr_nonnull(strstr(conf_error.text, "symbolic links"));
}

/* Needs a user whom modes stop. */
TEST(read, test_unreadable)
{
    conf_write_text("n.conf", "node redis://a\n", 0200);
    if (geteuid() == 0) {
        ck_assert_int_eq(chmod(conf_dir, 0755), 0);
        ck_assert_int_eq(seteuid(65534), 0);
    }
    int code = conf_load("n.conf");
    if (getuid() == 0)
        ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(code, REDLOCK_ECONFIG);
    ck_assert_str_eq(conf_error.text,
                     "n.conf: Permission denied; make it readable for the user who runs this");
}

TEST(read, test_not_files)
{
    ck_assert_int_eq(mkdir("d", 0700), 0);
    ck_assert_int_eq(conf_load("d"), REDLOCK_ECONFIG);
    ck_assert_str_eq(conf_error.text, "d: is a directory; give a regular file");
    ck_assert_int_eq(mkfifo("p", 0600), 0);
    ck_assert_int_eq(conf_load("p"), REDLOCK_ECONFIG); /* and does not wait for a writer */
    ck_assert_str_eq(conf_error.text, "p: is a pipe; give a regular file");
    ck_assert_int_eq(conf_load("/dev/null"), REDLOCK_ECONFIG);
    ck_assert_str_eq(conf_error.text, "/dev/null: is a device; give a regular file");
    ck_assert_int_eq(conf_load("/proc/self/mem"),
                     REDLOCK_ECONFIG); /* opens, but can't be read */
    ck_assert_str_eq(conf_error.text, "/proc/self/mem: Input/output error");
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "s"};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    ck_assert_int_eq(conf_load("s"), REDLOCK_ECONFIG);
    ck_assert_str_eq(conf_error.text, "s: is a socket; give a regular file");
    close(fd);
}

TEST(read, test_sizes)
{
    static char text[RL_FILE_MAX + 100];
    memset(text, '\n', sizeof(text));
    conf_write("n.conf", text, 0, 0600);
    ck_assert_int_eq(conf_load("n.conf"), REDLOCK_ECONFIG);
    ck_assert_ptr_eq(strstr(conf_error.text, "n.conf:1:1: no node; add a line"),
                     conf_error.text);
    memcpy(text, "node redis://a", 14);
    conf_write("n.conf", text, RL_FILE_MAX, 0600);
    ck_assert_int_eq(conf_load("n.conf"), 0);
    rl_config_free(&conf_config);
    conf_write("n.conf", text, RL_FILE_MAX + 1, 0600);
    ck_assert_int_eq(conf_load("n.conf"), REDLOCK_ECONFIG);
    ck_assert_str_eq(conf_error.text,
                     "n.conf: too long for a node list; it has at most 65536 bytes");
    ck_assert_int_eq(truncate("n.conf", 10 << 20), 0);
    ck_assert_int_eq(conf_load("n.conf"), REDLOCK_ECONFIG);
    ck_assert_ptr_nonnull(strstr(conf_error.text, "too long for a node list"));
}

TEST(read, test_binary)
{
    ck_assert_int_eq(conf_load("/proc/self/exe"), REDLOCK_ECONFIG); /* over the limit */
    ck_assert_ptr_nonnull(strstr(conf_error.text, "too long for a node list"));
    conf_write("n.conf", "\x7f\x45LF\0\0", 6, 0600);
    ck_assert_int_eq(conf_load("n.conf"), REDLOCK_ECONFIG);
    ck_assert_ptr_nonnull(strstr(conf_error.text, "n.conf:1:1: a byte that is no text (0x7f)"));
}

/* Out of descriptors is not the file's fault. No descriptor is lost on any way out. */
TEST(read, test_descriptors)
{
    conf_write_text("n.conf", "node redis://a\n", 0600);
    int before = dup(0);
    close(before);
    ck_assert_int_eq(conf_load("n.conf"), 0);
    rl_config_free(&conf_config);
    conf_load("d");
    conf_load("/");
    conf_load("/dev/null");
    int after = dup(0);
    close(after);
    ck_assert_int_eq(before, after);
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    struct rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    int code = conf_load("n.conf");
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_int_eq(code, REDLOCK_ESYSTEM);
    ck_assert_str_eq(conf_error.text, "n.conf: Too many open files");
}

TEST(read, test_bad_struct)
{
    redlock_config from = REDLOCK_CONFIG_INIT;
    ck_assert_int_eq(conf_load_config(&from), REDLOCK_EINVAL);
    ck_assert_ptr_nonnull(strstr(conf_error.text, "neither a file nor a node"));
    ck_assert_int_eq(conf_load_config(NULL), REDLOCK_EINVAL);
    redlock_node node = {.size = 0, .url = "redis://a"};
    from.nodes = &node;
    from.node_count = 1;
    ck_assert_int_eq(conf_load_config(&from), REDLOCK_EINVAL);
    node = (redlock_node)REDLOCK_NODE_INIT;
    node.url = "redis://";
    ck_assert_int_eq(conf_load_config(&from), REDLOCK_ECONFIG);
    node.url = "redis://a";
    from.guard = 7;
    ck_assert_int_eq(conf_load_config(&from), REDLOCK_ECONFIG);
    ck_assert_uint_eq(conf_config.node_count, 0);
    ck_assert_ptr_null(conf_config.nodes);
}

/* File first, then nodes and settings from code. */
TEST(read, test_file_and_code)
{
    conf_write_text("n.conf", "node redis://a\nnode redis://b\nttl 5s\nmax-ttl 20s\n", 0600);
    redlock_node node = REDLOCK_NODE_INIT;
    node.url = "redis://c";
    redlock_config from = REDLOCK_CONFIG_INIT;
    from.file = "n.conf";
    from.nodes = &node;
    from.node_count = 1;
    from.ttl_ms = 6000;
    ck_assert_msg(conf_load_config(&from) == 0, "%s", conf_error.text);
    ck_assert_uint_eq(conf_config.node_count, 3);
    ck_assert_str_eq(conf_config.nodes[2].label, "redis://c:6379");
    ck_assert_int_eq(conf_config.ttl_ms, 6000);
    ck_assert_int_eq(conf_config.max_ttl_ms, 20000);
    rl_config_free(&conf_config);
}

/* Nobody has to listen to warnings. */
TEST(read, test_no_listener)
{
    redlock_node nodes[2] = {REDLOCK_NODE_INIT, REDLOCK_NODE_INIT};
    nodes[0].url = "redis://a";
    nodes[1].url = "redis://b";
    redlock_config from = REDLOCK_CONFIG_INIT;
    from.nodes = nodes;
    from.node_count = 2;
    conf_error = (redlock_error)REDLOCK_ERROR_INIT;
    ck_assert_int_eq(rl_config_load(&conf_config, &from, NULL, NULL, &conf_error), 0);
    rl_config_free(&conf_config);
}

/* A file whose bytes come in pieces, as those of /proc do. */
TEST(read, file_is_read_to_its_end_however_it_comes)
{
    static char bytes[1 << 20];
    char why[160];
    size_t len = 0;
    mode_t mode = 0;
    int error = 0;
    for (int i = 0; i < 200; i++) /* each is a line of the file: of different rights */
        ck_assert_ptr_ne(
            mmap(NULL, 4096, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            MAP_FAILED);
    ck_assert_int_eq(rl_read_file("/proc/self/maps", bytes, sizeof(bytes), &len, &mode, &error,
                                  why, sizeof(why)),
                     0);
    ck_assert_uint_gt(len, 8192);
    ck_assert_ptr_nonnull(memmem(bytes, len, "[stack]", 7));
}

static atomic_bool reading;

static void *read_on(void *bytes)
{
    char why[160];
    size_t len;
    mode_t mode;
    int error;
    while (atomic_load(&reading))
        ck_assert_int_eq(
            rl_read_file("large", bytes, RL_FILE_MAX, &len, &mode, &error, why, sizeof(why)),
            0);
    return NULL;
}

/* The one that is open while another thread may fork. */
TEST(read, no_child_inherits_file_that_is_read)
{
    static char bytes[RL_FILE_MAX];
    pthread_t reader;
    unsigned seen = 0;
    conf_write("large", bytes, sizeof(bytes), 0600);
    int next = dup(0);
    close(next);
    atomic_store(&reading, true);
    ck_assert_int_eq(pthread_create(&reader, NULL, read_on, bytes), 0);
    for (int64_t end_ms = now_ms() + 10000; seen < 1000 && now_ms() < end_ms;) {
        int flags = fcntl(next, F_GETFD);
        ck_assert_msg(flags < 0 || (flags & FD_CLOEXEC), "seen %u times before", seen);
        seen += flags >= 0;
    }
    atomic_store(&reading, false);
    pthread_join(reader, NULL);
    ck_assert_uint_gt(seen, 0);
}

CASE(read, .set_up = conf_set_up, .timeout_s = 30)
