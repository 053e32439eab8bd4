/* cmd_lock.c - lock, extend, release: a lock that outlives the process which took it, passed
 * from one to the next as a handle. Unless it is given up, the lock must be detached before the
 * client is closed, because redlock_close() releases held locks. */
#include "config_auto.h"

#include "redlock/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct answer {
    char handle[REDLOCK_HANDLE_MAX];
    struct cli_names names;
    uint64_t fencing_token;
    int64_t validity_ms;
};

/* What is printed of a lock after it was released or detached. */
static void note_lock(const redlock_lock *lock, struct answer *ret_answer)
{
    cli_names_of(lock, &ret_answer->names);
    ret_answer->fencing_token = redlock_fencing_token(lock);
}

/* ,"validity_ms":..., */
static void print_validity(const struct answer *answer)
{
    printf(",\"validity_ms\":%lld", (long long)answer->validity_ms);
    cli_json_fencing_token(stdout, answer->fencing_token);
    putchar(',');
}

static void print_answer(const struct cli *cli, const struct answer *answer,
                         const redlock_report *report)
{
    if (!cli->json) {
        printf("%s\n", answer->handle);
        return;
    }
    cli_json_begin(stdout);
    cli_json_names(stdout, &answer->names);
    putchar(',');
    cli_json_text(stdout, "handle", answer->handle);
    print_validity(answer);
    cli_json_votes(stdout, report);
    cli_json_result(stdout, cli->verb == CLI_LOCK ? "acquired" : "extended", CLI_OK);
}

/* A lock that was just taken has served nobody; one that was extended may have. */
static void give_back(const struct cli *cli, redlock_lock *lock)
{
    if (cli->verb == CLI_LOCK)
        cli_undo(lock);
    else
        redlock_release(lock);
}

/* Detach the lock and print its handle. If it can't be printed, release the lock. */
static int hand_out(const struct cli *cli, redlock *client, redlock_lock *lock,
                    const redlock_report *report)
{
    struct answer answer;
    note_lock(lock, &answer);
    answer.validity_ms = redlock_validity_ms(lock);
    int code = redlock_detach(lock, answer.handle, sizeof(answer.handle));
    if (code != REDLOCK_OK) {
        cli_say(cli, "no handle could be made: %s", redlock_strerror(code));
        give_back(cli, lock);
        return cli_exit_of(code);
    }
    print_answer(cli, &answer, report);
    int status = cli_flush(cli);
    redlock_lock *again = NULL;
    if (status != CLI_OK && redlock_attach(client, answer.handle, &again) == REDLOCK_OK)
        give_back(cli, again);
    return status;
}

int cmd_lock(const struct cli *cli)
{
    redlock *client = NULL;
    int status = cli_open(cli, &client);
    if (status != CLI_OK)
        return status;
    cli_cancel_on_signals(cli, client);
    redlock_node_vote votes[REDLOCK_NODES_MAX];
    redlock_report report = REDLOCK_REPORT_INIT(votes, REDLOCK_NODES_MAX);
    redlock_options how = REDLOCK_OPTIONS_INIT;
    how.report = &report;
    redlock_lock *lock = NULL;
    status = cli_acquire(cli, client, &how, NULL, &lock);
    if (lock)
        status = hand_out(cli, client, lock, &report);
    cli_cancel_on_signals(cli, NULL);
    redlock_close(client);
    return status;
}

/* ---- a handle that was given ---- */

/* One line from stdin. False: too long to be a handle, or unreadable. */
static bool read_handle(char *ret_text, size_t size)
{
    size_t len = 0;
    while (len < size) {
        ssize_t got = read(STDIN_FILENO, ret_text + len, size - len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        if (got == 0)
            break;
        len += (size_t)got;
    }
    if (len == size)
        return false;
    while (len > 0 && (ret_text[len - 1] == '\n' || ret_text[len - 1] == '\r'))
        len--;
    ret_text[len] = '\0';
    return strlen(ret_text) == len; /* no NUL inside */
}

/* The handle: the operand, `-` for stdin, or $REDLOCK_HANDLE. NULL: the line is written. */
static const char *find_handle(const struct cli *cli, char *buffer, size_t size)
{
    const char *handle = cli->operand ? cli->operand : getenv("REDLOCK_HANDLE");
    if (handle && strcmp(handle, "-") == 0) {
        if (!read_handle(buffer, size)) {
            cli_say(cli, "stdin holds no handle: it takes the one line that lock printed");
            return NULL;
        }
        handle = buffer;
    }
    if (!handle || !*handle) {
        cli_say(cli, "the handle is missing: give the text that lock printed, - to read it "
                     "from stdin, or set $REDLOCK_HANDLE");
        return NULL;
    }
    return handle;
}

/* Open, find the handle and attach it. CLI_OK, or the status to leave with (all closed). */
static int attach(const struct cli *cli, redlock **ret_client, redlock_lock **ret_lock)
{
    char buffer[REDLOCK_HANDLE_MAX + 2]; /* a newline, and one byte that shows it is too long */
    const char *handle = find_handle(cli, buffer, sizeof(buffer));
    if (!handle)
        return CLI_USAGE;
    int status = cli_open(cli, ret_client);
    if (status != CLI_OK)
        return status;
    int code = redlock_attach(*ret_client, handle, ret_lock);
    if (code == REDLOCK_OK)
        return CLI_OK;
    if (code == REDLOCK_EEXPIRED)
        cli_say(cli, "the lock of this handle has run out");
    else if (code != REDLOCK_EHANDLE && code != REDLOCK_EINVAL) /* the library has said why */
        cli_say(cli, "the handle can't be used: %s", redlock_strerror(code));
    redlock_close(*ret_client);
    return cli_exit_of(code);
}

static void print_not_extended(const struct answer *answer, const redlock_report *report,
                               int code)
{
    cli_json_begin(stdout);
    cli_json_names(stdout, &answer->names);
    print_validity(answer);
    cli_json_votes(stdout, report);
    cli_json_result(stdout, cli_result_word(code), cli_exit_of(code));
}

int cmd_extend(const struct cli *cli)
{
    redlock *client = NULL;
    redlock_lock *lock = NULL;
    int status = attach(cli, &client, &lock);
    if (status != CLI_OK)
        return status;
    redlock_node_vote votes[REDLOCK_NODES_MAX];
    redlock_report report = REDLOCK_REPORT_INIT(votes, REDLOCK_NODES_MAX);
    struct answer answer;
    note_lock(lock, &answer);
    int code = redlock_extend(lock, cli->ttl_ms, &report);
    cli_say_votes(cli, &report);
    if (code == REDLOCK_OK) {
        status = hand_out(cli, client, lock, &report);
    } else {
        /* The same lock as before: the caller has its handle. */
        answer.validity_ms = redlock_validity_ms(lock);
        bool lives = redlock_detach(lock, answer.handle, sizeof(answer.handle)) == REDLOCK_OK;
        if (!lives) {
            answer.validity_ms = 0;
            answer.fencing_token = 0;
            redlock_release(lock);
        }
        /* The library has said what is wrong with the TTL, in a line of its own. */
        cli_say(cli, "not extended%s%s%s%s%s", code == REDLOCK_EINVAL ? "" : ": ",
                code == REDLOCK_EINVAL ? "" : redlock_strerror(code),
                lives ? " (by its handle the lock is valid for another " : "",
                lives ? cli_time_text(answer.validity_ms).text : "", lives ? ")" : "");
        status = cli_exit_of(code);
        if (cli->json)
            print_not_extended(&answer, &report, code);
    }
    redlock_close(client);
    return status;
}

static const char *release_word(int code)
{
    switch (code) {
    case REDLOCK_OK:
        return "released";
    case REDLOCK_EUNCONFIRMED:
        return "unknown";
    default:
        return "expired";
    }
}

int cmd_release(const struct cli *cli)
{
    redlock *client = NULL;
    redlock_lock *lock = NULL;
    int status = attach(cli, &client, &lock);
    if (status != CLI_OK)
        return status;
    struct answer answer;
    cli_names_of(lock, &answer.names);
    int code = redlock_release(lock);
    /* A second call, as after "unknown", may ask for a release that was done already. */
    if (code != REDLOCK_OK)
        cli_say(cli, "'%s'%s: %s", cli_first_name(&answer.names).text,
                answer.names.count > 1 ? " and the others" : "",
                code == REDLOCK_EEXPIRED
                    ? "gone already: it was released before, was lost, or had run out"
                    : redlock_strerror(code));
    if (cli->json) {
        cli_json_begin(stdout);
        cli_json_names(stdout, &answer.names);
        cli_json_result(stdout, release_word(code), cli_exit_of(code));
    }
    int written = cli->json ? cli_flush(cli) : CLI_OK;
    redlock_close(client);
    return code != REDLOCK_OK ? cli_exit_of(code) : written;
}
