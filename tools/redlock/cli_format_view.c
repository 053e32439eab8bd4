/* cli_format_view.c - shows the state of a lock on a master, or on a majority, in words and as
 * JSON. */
#include "config_auto.h"

#include "redlock/cli.h"
#include "redlock/holder_ask.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_IN_LINE 3 /* holders; more of them get lines of their own */

int cli_inspect(const struct cli *cli, redlock *client, struct cli_info *ret_info)
{
    ret_info->all = (redlock_lock_info)REDLOCK_LOCK_INFO_INIT(
        ret_info->node, REDLOCK_NODES_MAX, ret_info->holder,
        sizeof(ret_info->holder) / sizeof(ret_info->holder[0]));
    return redlock_inspect_n(client, cli->operand, strlen(cli->operand), cli->owner,
                             &ret_info->all);
}

/* Take the holders of one master, or of a majority (-1): they are adjacent. */
static void take_holders(const struct cli_info *info, int node, struct cli_view *view)
{
    unsigned i = 0;
    while (i < info->all.holder_count && info->holder[i].node != node)
        i++;
    view->holder = &info->holder[i];
    while (i + view->shown < info->all.holder_count && view->holder[view->shown].node == node)
        view->shown++;
}

struct cli_view cli_view_of_majority(const struct cli_info *info)
{
    const redlock_lock_info *all = &info->all;
    struct cli_view view = {
        .state = all->state,
        .ttl_ms = all->ttl_ms,
        .writer_ms = all->writer_ms,
        .waiting = all->waiting,
        .holders = all->holders,
        .data = all->data,
    };
    take_holders(info, -1, &view);
    return view;
}

struct cli_view cli_view_of(const struct cli_info *info, unsigned node)
{
    const redlock_node_info *told = &info->node[node];
    struct cli_view view = {
        .state = told->state,
        .ttl_ms = told->ttl_ms,
        .writer_ms = told->writer_ms,
        .waiting = told->waiting,
        .holders = told->holders,
        .data = told->data,
    };
    take_holders(info, (int)node, &view);
    return view;
}

bool cli_is_free(int state)
{
    return state == REDLOCK_STATE_FREE || state == REDLOCK_STATE_RESERVED;
}

const char *cli_state_word(int state)
{
    static const char *const words[] = {"unknown",   "free", "free",       "plain",
                                        "reentrant", "fair", "read-write", "data"};
    assert(state >= 0 && state <= REDLOCK_STATE_DATA);
    return words[state];
}

static const char *mode_word(int mode)
{
    static const char *const words[] = {"alone", "read", "write"};
    assert(mode >= 0 && mode <= REDLOCK_MODE_WRITE);
    return words[mode];
}

struct holder_clients *cli_holder_clients(const struct cli *cli, const struct cli_info *info)
{
    struct holder_clients *clients = calloc(1, sizeof(*clients));
    if (!clients)
        return NULL;
    holder_clients_want(clients, &info->all);
    if (clients->count > 0)
        holder_ask(cli, &info->all, clients);
    return clients;
}

/* ---- for people ------------------------------------------------------------------------- */

struct line {
    struct cli_text text;
    size_t len;
};

static void add(struct line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct line *line, const char *format, ...)
{
    va_list arguments;
    size_t room = sizeof(line->text.text) - line->len;
    va_start(arguments, format);
    int made = vsnprintf(line->text.text + line->len, room, format, arguments);
    va_end(arguments);
    line->len += made < 0 ? 0 : (size_t)made < room ? (size_t)made : room - 1;
}

/* In short form, because several must fit a line. */
static void add_owner(struct line *line, const redlock_holder *holder, size_t most)
{
    struct cli_text owner = cli_text(holder->owner, holder->owner_len);
    bool cut = strlen(owner.text) > most;
    add(line, "%.*s%s", (int)most, owner.text, cut ? "..." : "");
    if (holder->count == 0)
        add(line, " (lapsed)");
    else if (holder->count > 1)
        add(line, " (%u holds)", holder->count);
}

/* " by a, b and 3 more": those of one mode. Their number. */
static unsigned count_mode(const struct cli_view *view, int mode)
{
    unsigned count = 0;
    for (unsigned i = 0; i < view->shown; i++)
        count += view->holder[i].mode == mode;
    return count;
}

static void add_mode(struct line *line, const struct cli_view *view, int mode, unsigned all)
{
    unsigned named = 0;
    for (unsigned i = 0; i < view->shown && named < NAMED_IN_LINE; i++) {
        if (view->holder[i].mode != mode)
            continue;
        add(line, named++ > 0 ? ", " : " ");
        add_owner(line, &view->holder[i], 40);
    }
    if (all > named)
        add(line, " and %u more", all - named);
}

static void add_read_write(struct line *line, const struct cli_view *view)
{
    unsigned writers = count_mode(view, REDLOCK_MODE_WRITE);
    unsigned readers = view->holders - writers; /* there is one writer at most */
    if (writers > 0) {
        add(line, "written by");
        add_mode(line, view, REDLOCK_MODE_WRITE, writers);
    }
    if (readers > 0) {
        add(line, "%sread by", writers > 0 ? ", " : "");
        add_mode(line, view, REDLOCK_MODE_READ, readers);
    }
}

static void add_waiting(struct line *line, const struct cli_view *view)
{
    if (view->waiting > 0)
        add(line, "; %u wait%s", view->waiting, view->waiting == 1 ? "s" : "");
    if (view->writer_ms > 0)
        add(line, "; a writer is next");
}

struct cli_text cli_format_view(const struct cli_view *view)
{
    struct line line = {{""}, 0};
    switch (view->state) {
    case REDLOCK_STATE_FREE:
        add(&line, "free");
        break;
    case REDLOCK_STATE_RESERVED:
        add(&line, "free, kept for a waiter, %s", cli_left_text(view->ttl_ms).text);
        break;
    case REDLOCK_STATE_DATA:
        add(&line, "no lock but data: a %s, %s", view->data, cli_left_text(view->ttl_ms).text);
        break;
    case REDLOCK_STATE_READ_WRITE:
        add_read_write(&line, view);
        add(&line, ", %s", cli_left_text(view->ttl_ms).text);
        break;
    default:
        add(&line, "held by ");
        if (view->shown > 0)
            add_owner(&line, &view->holder[0], 120);
        add(&line, ", %s", cli_left_text(view->ttl_ms).text);
        break;
    }
    add_waiting(&line, view);
    return line.text;
}

/* "host build-7, process 4711" */
static struct cli_text client_text(const struct client_name *name)
{
    struct line line = {{""}, 0};
    int64_t pid;
    size_t host_len = holder_host_len(name, &pid);
    if (host_len > 0) {
        add(&line, "host %s, process %lld", cli_text(name->text, host_len).text,
            (long long)pid);
    } else {
        if (name->len > 0)
            add(&line, "client %s, ", cli_text(name->text, name->len).text);
        add(&line, "host and process unknown");
    }
    return line.text;
}

void cli_print_holders(const struct cli_view *view, const struct holder_clients *clients)
{
    for (unsigned i = 0; i < view->shown; i++) {
        const redlock_holder *holder = &view->holder[i];
        struct client_name name = holder_name_of(clients, view->state, holder);
        if (view->holders > 1)
            printf("  %-5s  %s, %u hold%s, %s,", mode_word(holder->mode),
                   cli_text(holder->owner, holder->owner_len).text, holder->count,
                   holder->count == 1 ? "" : "s", cli_left_text(holder->ttl_ms).text);
        printf("%s%s\n", view->holders > 1 ? " " : "  ", client_text(&name).text);
    }
    if (view->holders > view->shown)
        printf("  and %u more\n", view->holders - view->shown);
}

/* ---- JSON ------------------------------------------------------------------------------- */

static void json_time(FILE *out, const char *key, int64_t ms)
{
    if (ms >= 0)
        fprintf(out, ",\"%s\":%lld", key, (long long)ms);
    else
        fprintf(out, ",\"%s\":null", key); /* for ever */
}

/* Unknown values are null. */
static void json_client(FILE *out, const struct client_name *name)
{
    int64_t pid;
    size_t host_len = holder_host_len(name, &pid);
    fputc(',', out);
    if (name->len > 0)
        cli_json_bytes(out, "client", name->text, name->len);
    else
        fputs("\"client\":null", out);
    fputc(',', out);
    if (host_len > 0) {
        cli_json_bytes(out, "host", name->text, host_len);
        fprintf(out, ",\"pid\":%lld", (long long)pid);
    } else {
        fputs("\"host\":null,\"pid\":null", out);
    }
}

static void json_holders(FILE *out, const struct cli_view *view,
                         const struct holder_clients *clients)
{
    fputs(",\"holders\":[", out);
    for (unsigned i = 0; i < view->shown; i++) {
        const redlock_holder *holder = &view->holder[i];
        struct client_name name = holder_name_of(clients, view->state, holder);
        fputs(i > 0 ? ",{" : "{", out);
        cli_json_bytes(out, "owner", holder->owner, holder->owner_len);
        fprintf(out, ",\"mode\":\"%s\",\"count\":%u", mode_word(holder->mode), holder->count);
        json_time(out, "ttl_ms", holder->ttl_ms);
        json_client(out, &name);
        fputc('}', out);
    }
    fprintf(out, "],\"holder_count\":%u", view->holders);
}

void cli_json_view(FILE *out, const struct cli_view *view, const struct holder_clients *clients)
{
    if (!cli_is_free(view->state)) {
        fprintf(out, ",\"kind\":\"%s\"", cli_state_word(view->state));
        if (view->state == REDLOCK_STATE_DATA) {
            fputc(',', out);
            cli_json_text(out, "type", view->data);
        }
        if (view->shown > 0) {
            fputc(',', out);
            cli_json_bytes(out, "holder", view->holder[0].owner, view->holder[0].owner_len);
        }
        json_time(out, "ttl_ms", view->ttl_ms);
        json_holders(out, view, clients);
    } else if (view->state == REDLOCK_STATE_RESERVED) {
        fputs(",\"kept\":true", out);
        json_time(out, "ttl_ms", view->ttl_ms);
    }
    fprintf(out, ",\"waiting\":%u", view->waiting);
    if (view->writer_ms > 0)
        json_time(out, "writer_waits_ms", view->writer_ms);
}
