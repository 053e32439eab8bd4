/* tags: threads */
/* test_run.c - redlock run: what COMMAND is given, what is given back, and signals. */
#include "config_auto.h"

#include "cli_rig.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define RUN_SH(name, script) REDLOCK("run", name, "--", "sh", "-c", script)

/* ---- the exit status ---- */

static const struct {
    const char *script;
    int status;
} ends[] = {
    {"exit 0", 0},          {"exit 1", 1},          {"exit 7", 7},
    {"exit 74", 74},        {"exit 255", 255},      {"kill -TERM $$", 128 + SIGTERM},
    {"kill -KILL $$", 137}, {"kill -SEGV $$", 139}, {"kill -INT $$", 130},
};

TEST(plain, case_108_exit_status_of_command, .rows = ROWS(ends))
{
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, RUN_SH("j:108", ends[_i].script), &program),
                     ends[_i].status);
    ck_assert_str_eq(program_err(program), "");
    ck_assert_str_eq(program_out(program), "");
    cli_expect_free("j:108");
}

TEST(plain, remedy_for_missing_dashes_shows_whole_command)
{
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("run", "x", "echo", "hi", "you"), &program), 64);
    ck_assert_ptr_nonnull(strstr(program_err(program), ": redlock run x -- echo hi you\n"));
}

static rlim_t descriptors;

static void limit_descriptors(void)
{
    struct rlimit limit = {.rlim_cur = descriptors, .rlim_max = descriptors};
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* However few there are, and wherever they run out. */
TEST(plain, too_few_descriptors_are_no_fault_of_node_list)
{
    const struct program_how how = {.before_exec = limit_descriptors};
    for (descriptors = 3; descriptors < 16; descriptors++) {
        struct program *program = NULL;
        int status = program_run(
            &how, REDLOCK("run", "--wait", "1s", "few", "--", "true"), &program);
        ck_assert_msg(status != 78 && status != 134 && status != 139, "%d with %d: %s", status,
                      (int)descriptors, program_err(program));
        ck_assert_msg(status == 71 || !strstr(program_err(program), "Too many open files") ||
                          status == 69,
                      "%d with %d: %s", status, (int)descriptors, program_err(program));
    }
}

TEST(plain, case_108_command_that_can_not_be_run)
{
    struct program *program = NULL;
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("run", "j:108", "--", "/nonexistent/x"), &program), 127);
    ck_assert(cli_one_line(program_err(program)));
    ck_assert_int_eq(program_run(NULL, REDLOCK("run", "j:108", "--", "no-such-program"), NULL),
                     127);
    ck_assert_int_eq(program_run(NULL, REDLOCK("run", "j:108", "--", "/etc/passwd"), &program),
                     126);
    ck_assert(cli_one_line(program_err(program)));
    ck_assert_int_eq(program_run(NULL, REDLOCK("run", "j:108", "--", "/"), NULL), 126);
    cli_expect_free("j:108");
}

/* ---- what COMMAND is given ---- */

TEST(plain, case_111_arguments_verbatim_without_shell)
{
    struct program *program = NULL;
    ck_assert_int_eq(
        program_run(NULL,
                    REDLOCK("run", "j:111", "--", "printf", "<%s>", "a b", "", "\"q'", "$HOME",
                            "*", "--ttl", "\\n", "-v", "--", "\xff;"),
                    &program),
        0);
    ck_assert_str_eq(program_out(program),
                     "<a b><><\"q'><$HOME><*><--ttl><\\n><-v><--><\xff;>");
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("run", "--", "-j:111", "--", "printf", "%s", "ok"), &program),
        0);
    ck_assert_str_eq(program_out(program), "ok");
}

static int occurrences(const char *text, const char *word)
{
    int count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        count++;
    return count;
}

TEST(plain, case_112_environment_carries_name_handle_and_nodes)
{
    static const char *const environment[] = {"KEPT=a b", "REDLOCK_NAME=stale",
                                              "REDLOCK_HANDLE=stale", NULL};
    struct program_how how = {.environment = environment};
    struct program *program = NULL;
    ck_assert_int_eq(program_run(&how, REDLOCK("run", "j:112 x", "--", "env"), &program), 0);
    char nodes[512];
    snprintf(nodes, sizeof(nodes), "\nREDLOCK_NODES=%s\n", getenv("REDLOCK_NODES"));
    ck_assert(program_printed(program, "\nKEPT=a b\n"));
    ck_assert(program_printed(program, "\nREDLOCK_NAME=j:112 x\n"));
    ck_assert(program_printed(program, "\nREDLOCK_HANDLE=rl5"));
    ck_assert(program_printed(program, nodes));
    ck_assert_int_eq(occurrences(program_out(program), "\nREDLOCK_NAME="), 1);
    ck_assert_int_eq(occurrences(program_out(program), "\nREDLOCK_HANDLE="), 1);
    ck_assert_int_eq(occurrences(program_out(program), "\nREDLOCK_NODES="), 1);
    ck_assert(!program_printed(program, "stale"));
    ck_assert_int_eq(program_run(NULL,
                                 REDLOCK("run", "j:112 x", "--", program_redlock(), "extend"),
                                 &program),
                     0);
    ck_assert(program_printed(program, "rl5"));
}

TEST(plain, case_112_node_list_path_is_made_absolute)
{
    char directory[SUITE_PATH_MAX];
    char text[16384];
    char path[SUITE_PATH_MAX + 16];
    char expected[SUITE_PATH_MAX + 32];
    suite_new_dir(directory);
    snprintf(path, sizeof(path), "%s/nodes", directory);
    file_text(getenv("REDLOCK_NODES"), text, sizeof(text));
    file_write(path, text);
    struct program_how how = {.directory = directory};
    struct program *program = NULL;
    ck_assert_int_eq(program_run(&how,
                                 REDLOCK("run", "-n", "./nodes", "j:112", "--", "sh", "-c",
                                         "echo $REDLOCK_NODES"),
                                 &program),
                     0);
    char *real = realpath(path, NULL);
    snprintf(expected, sizeof(expected), "%s\n", real);
    ck_assert_str_eq(program_out(program), expected);
    free(real);
    suite_remove_dir(directory);
}

/* What systemd says to redlock by its process number is meant for the command. */
TEST(plain, command_is_whom_systemd_means)
{
    struct program *program = NULL;
    ck_assert_int_eq(
        program_run(NULL,
                    (const char *const[]){
                        "sh", "-c",
                        "LISTEN_PID=$$ WATCHDOG_PID=$$ exec \"$0\" run systemd -- sh -c 'test "
                        "$LISTEN_PID = $$ && test $WATCHDOG_PID = $$'",
                        program_redlock(), NULL},
                    &program),
        0);
    ck_assert_int_eq(program_run(NULL,
                                 (const char *const[]){
                                     "sh", "-c",
                                     "LISTEN_PID=1 exec \"$0\" run systemd -- sh -c 'test "
                                     "$LISTEN_PID = 1'",
                                     program_redlock(), NULL},
                                 NULL),
                     0);
}

TEST(plain, case_112_try_wait_and_ttl_are_honoured)
{
    (void)cli_acquire("j:112:busy", "6s");
    int64_t begin = now_ms();
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("run", "--try", "j:112:busy", "--", "true"), NULL), 75);
    ck_assert_int_lt(now_ms() - begin, 4000);
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("run", "--wait", "500ms", "j:112:busy", "--", "true"), NULL),
        75);
    ck_assert_int_eq(program_run(NULL, REDLOCK("run", "j:112:busy", "--", "true"), NULL), 0);

    struct program *program =
        program_start(NULL, REDLOCK("run", "--ttl", "20s", "j:112:ttl", "--", "sleep", "60"));
    ck_assert(wait_until(masters_with(cli_masters, "j:112:ttl") == 5, CLI_MOMENT_MS));
    long long left_ms = master_do(cli_masters, 0, "PTTL", "j:112:ttl", NULL).number;
    ck_assert_int_gt(left_ms, 15000);
    ck_assert_int_le(left_ms, 20000);
    kill(program->pid, SIGTERM);
    ck_assert_int_eq(program_wait(program, CLI_MOMENT_MS), 128 + SIGTERM);
}

TEST(plain, case_113_stdin_is_passed_through)
{
    size_t len = 300000;
    char *input = malloc(len + 1);
    for (size_t i = 0; i < len; i++)
        input[i] = (char)('a' + i % 26);
    input[len] = '\0';
    struct program_how how = {.input = input};
    struct program *program = NULL;
    ck_assert_int_eq(program_run(&how, REDLOCK("run", "j:113", "--", "cat"), &program), 0);
    ck_assert_str_eq(program_out(program), input);
    free(input);
}

/* A master that asks for a password, which stands in a file. */
TEST(plain, case_114_no_secret_on_any_command_line_or_in_any_message)
{
    struct masters *guarded = masters_start(1, NULL);
    (void)master_do(guarded, 0, "CONFIG", "SET", "requirepass", "s3cr3t-word", NULL);
    char directory[SUITE_PATH_MAX];
    char secret[SUITE_PATH_MAX + 16];
    char url[ENDPOINT_URL_MAX];
    suite_new_dir(directory);
    snprintf(secret, sizeof(secret), "%s/secret", directory);
    file_write(secret, "s3cr3t-word\n");
    endpoint_url(&guarded->node[0].unix_at, url);
    struct node_list list = {0};
    node_list_line(&list, "node %s password-file=%s\nguard off\n", url, secret);
    const char *nodes = node_list_write(&list);
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL,
                                 REDLOCK("run", "-v", "-n", nodes, "j:114", "--", "sh", "-c",
                                         "cat /proc/$PPID/cmdline /proc/$PPID/environ "
                                         "/proc/self/environ | tr '\\0' '\\n'"),
                                 &program),
                     0);
    ck_assert(program_printed(program, "redlock-guard"));
    ck_assert(!program_printed(program, "s3cr3t-word"));
    ck_assert_ptr_null(strstr(program_err(program), "s3cr3t-word"));
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "-v", "-n", nodes), &program), 0);
    ck_assert(!program_printed(program, "s3cr3t-word"));
    ck_assert_ptr_null(strstr(program_err(program), "s3cr3t-word"));
    masters_stop(guarded);
    suite_remove_dir(directory);
}

/* ---- descriptors and signals as the caller had them ---- */

static void open_nine(void)
{
    int fd = open("/dev/zero", O_RDONLY);
    dup2(fd, 9);
    close(fd);
}

/* The same program, with and without redlock run before it, prints the same. */
static void expect_no_difference(const struct program_how *how, const char *const plain[])
{
    const char *wrapped[12] = {program_redlock(), "run", "same", "--"};
    for (int i = 0; plain[i]; i++)
        wrapped[4 + i] = plain[i];
    struct program *without = NULL;
    struct program *with = NULL;
    ck_assert_int_eq(program_run(how, plain, &without), 0);
    ck_assert_int_eq(program_run(how, wrapped, &with), 0);
    ck_assert_str_eq(program_out(with), program_out(without));
}

TEST(plain, descriptors_are_callers_and_no_others)
{
    struct program_how how = {.before_exec = open_nine};
    struct program *program = NULL;
    ck_assert_int_eq(
        program_run(&how, REDLOCK("run", "fds", "--", "readlink", "/proc/self/fd/9"), &program),
        0);
    ck_assert_str_eq(program_out(program), "/dev/zero\n");
    const char *const list[] = {"ls", "/proc/self/fd", NULL};
    expect_no_difference(&how, list);
}

static void ignore_some(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGHUP, &ignore, NULL);
    sigaction(SIGUSR2, &ignore, NULL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGALRM);
    sigprocmask(SIG_SETMASK, &one, NULL);
}

/* Two numbers belong to the C library, and who spawns a process may leave them ignored. */
#define OF_THE_LIBRARY 0x180000000ULL

static unsigned long long signals_of(struct program *program, const char *which)
{
    const char *at = strstr(program_out(program), which);
    ck_assert_ptr_nonnull(at);
    return strtoull(at + strlen(which), NULL, 16) & ~OF_THE_LIBRARY;
}

TEST(plain, signal_mask_and_ignored_signals_are_callers)
{
    static const char *const file = "/proc/self/status";
    const char *const plain[] = {"cat", file, NULL};
    for (int i = 0; i < 2; i++) {
        struct program_how how = {.before_exec = i == 0 ? NULL : ignore_some};
        struct program *without = NULL;
        struct program *with = NULL;
        ck_assert_int_eq(program_run(&how, plain, &without), 0);
        ck_assert_int_eq(program_run(&how, REDLOCK("run", "sigs", "--", "cat", file), &with),
                         0);
        ck_assert(i == 0 || signals_of(without, "SigIgn:\t") != 0);
        ck_assert(i == 0 || signals_of(without, "SigBlk:\t") != 0);
        ck_assert_uint_eq(signals_of(with, "SigIgn:\t"), signals_of(without, "SigIgn:\t"));
        ck_assert_uint_eq(signals_of(with, "SigBlk:\t"), signals_of(without, "SigBlk:\t"));
    }
}

/* ---- the start ---- */

/* To load OpenSSL takes longer than all the rest. The guard, COMMAND's parent, is forked from
 * `redlock run`. */
TEST(plain, openssl_is_loaded_for_tls_only)
{
#ifdef LATE_OPENSSL
    struct program *program = NULL;
    ck_assert_int_eq(
        program_run(NULL,
                    RUN_SH("start", "run=$(awk '/^PPid:/ { print $2 }' /proc/$PPID/status)\n"
                                    "cat /proc/$run/maps"),
                    &program),
        0);
    ck_assert_ptr_nonnull(strstr(program_out(program), "/libuuid.so"));
    ck_assert_ptr_null(strstr(program_out(program), "/libssl.so"));
    ck_assert_ptr_null(strstr(program_out(program), "/libcrypto.so"));
#endif
}

TEST(plain, openssl_that_can_not_be_loaded_is_named)
{
#ifdef LATE_OPENSSL
    static const char script[] = "echo none >libssl.so.3; cp libssl.so.3 libssl.so.1.1\n"
                                 "echo 'node rediss://127.0.0.1:1' >list\n"
                                 "LD_LIBRARY_PATH=. exec \"$0\" -n list run start -- true";
    const struct program_how how = {.in_its_directory = true};
    const char *const argv[] = {"sh", "-c", script, program_redlock(), NULL};
    struct program *program = NULL;
    ck_assert_int_eq(program_run(&how, argv, &program), 78);
    ck_assert(cli_one_line(program_err(program)));
    ck_assert_ptr_nonnull(strstr(program_err(program), "TLS can't be set up: ./libssl.so."));
#endif
}

CASE(plain, .timeout_s = 60, .set_up_once = cli_rig_start, .tear_down_once = cli_rig_stop)
