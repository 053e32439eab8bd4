/* fault_command.c - faults that a master does to itself when it is told to. */
#include "config_auto.h"

#include "chaos/faults/fault.h"

#include "base/limits.h"

#include <string.h>
#include <sys/socket.h>

#define PROBE_MS 1000
#define LASTING (CHAOS_BIT_OF(CLIENT_PAUSE) | CHAOS_BIT_OF(SLEEP))
#define SCRIPT "return'redlock-chaos'"

/* ---- possible? ------------------------------------------------------------------------ */

/* A command like it that has no effect, and the type of its reply. */
static const char *refused(struct chaos_run *run, unsigned node, enum chaos_fault_kind kind)
{
    char text[256];
    switch (kind) {
    case CHAOS_FAULT_SLEEP:
        return chaos_master_say(run, node, text, sizeof(text), "DEBUG SLEEP 0") == '+'
                   ? NULL
                   : "DEBUG SLEEP is not allowed there (enable-debug-command)";
    case CHAOS_FAULT_CLIENT_PAUSE:
        return chaos_master_say(run, node, text, sizeof(text), "CLIENT PAUSE 0") == '+'
                   ? NULL
                   : "CLIENT PAUSE is not allowed there";
    case CHAOS_FAULT_OOM:
        if (chaos_master_say(run, node, text, sizeof(text), "CONFIG GET maxmemory-policy") !=
            '*')
            return "CONFIG GET is not allowed there";
        /* With another policy keys would be evicted instead. */
        return strstr(text, "noeviction") != NULL ? NULL
                                                  : "its maxmemory-policy is not noeviction";
    case CHAOS_FAULT_SCRIPT_FLUSH:
        return chaos_master_say(run, node, text, sizeof(text), "SCRIPT EXISTS 0") == '*'
                   ? NULL
                   : "SCRIPT is not allowed there";
    default:
        return NULL;
    }
}

static const char *cannot(struct chaos_run *run, enum chaos_fault_kind kind)
{
    for (unsigned i = 0; i < run->nodes; i++) {
        if (run->place.config.nodes[i].transport == RL_TLS)
            return "a master is reached by TLS, and commands go unencrypted here";
        const char *why = refused(run, i, kind);
        if (why != NULL)
            return why;
    }
    return NULL;
}

/* ---- one master ----------------------------------------------------------------------- */

/* Put it to sleep, and do not wait for the answer, which comes when it is over. */
static bool send_to_sleep(struct chaos_run *run, unsigned node, int64_t length_ms)
{
    struct server_at at;
    struct server_talk talk;
    char request[128], seconds[32];
    const char *argv[3] = {"DEBUG", "SLEEP", seconds};
    snprintf(seconds, sizeof(seconds), "%lld.%03lld", (long long)length_ms / 1000,
             (long long)length_ms % 1000);
    if (!chaos_master_at(run, node, &at) || !server_talk_open_within(&talk, &at, PROBE_MS))
        return false;
    size_t len = server_encode(request, sizeof(request), 3, argv);
    bool sent = len > 0 && send(talk.fd, request, len, MSG_NOSIGNAL) == (ssize_t)len;
    server_talk_close(&talk);
    return sent;
}

static bool keep_maxmemory(struct chaos_run *run, struct chaos_active *active, unsigned node)
{
    char text[256];
    if (chaos_master_say(run, node, text, sizeof(text), "CONFIG GET maxmemory") != '*')
        return false;
    /* *2, $9, maxmemory, $n, the number */
    const char *line = strstr(text, "maxmemory\r\n");
    line = line != NULL ? strchr(line + 11, '\n') : NULL;
    if (line == NULL)
        return false;
    size_t len = strspn(line + 1, "0123456789");
    snprintf(active->maxmemory[node], sizeof(active->maxmemory[node]), "%.*s", (int)len,
             line + 1);
    return len > 0;
}

/* A script of our own, which the flush takes away with the others. */
static bool flush_scripts(struct chaos_run *run, struct chaos_active *active, unsigned node)
{
    char text[64];
    return chaos_master_say(run, node, active->script, sizeof(active->script),
                            "SCRIPT LOAD " SCRIPT) == '$' &&
           chaos_master_say(run, node, text, sizeof(text), "SCRIPT FLUSH") == '+';
}

/* With markers the connected would see the loss only at their next look at the marker: that
 * hole is documented, and nothing is excused for it here. So they have to connect anew, but for
 * those whose scripts look, too. */
static bool flush_keys(struct chaos_run *run, unsigned node)
{
    char text[64];
    struct server_at at;
    return chaos_master_at(run, node, &at) &&
           chaos_master_say(run, node, text, sizeof(text), "SET %smarker 1 PX 3600000",
                            run->record->prefix) == '+' &&
           chaos_server_empty(&at, run->options->markers && !run->options->strict);
}

static bool inflict(struct chaos_run *run, struct chaos_active *active, unsigned node)
{
    struct chaos_fault *fault = active->fault;
    int64_t length_ms = fault->length_ns / RL_NS_PER_MS;
    char text[256];
    switch (fault->kind) {
    case CHAOS_FAULT_CLIENT_PAUSE:
        return chaos_master_say(run, node, text, sizeof(text), "CLIENT PAUSE %lld",
                                (long long)length_ms) == '+';
    case CHAOS_FAULT_SLEEP:
        return send_to_sleep(run, node, length_ms);
    case CHAOS_FAULT_OOM:
        return keep_maxmemory(run, active, node) &&
               chaos_master_say(run, node, text, sizeof(text), "CONFIG SET maxmemory 1") == '+';
    case CHAOS_FAULT_SCRIPT_FLUSH:
        return flush_scripts(run, active, node);
    default:
        return flush_keys(run, node);
    }
}

/* ---- its effect ----------------------------------------------------------------------- */

/* By contenders with markers: else a run with them would show nothing of the markers. */
static bool was_noticed(struct chaos_run *run, unsigned node)
{
    struct server_at at;
    return !run->options->markers ||
           (chaos_master_at(run, node, &at) && chaos_server_quarantined(&at));
}

/* Has this master been hit? Its answer shows it. */
static bool is_hit(struct chaos_run *run, const struct chaos_active *active, unsigned node)
{
    char text[256];
    switch (active->fault->kind) {
    case CHAOS_FAULT_OOM:
        return chaos_master_say(run, node, text, sizeof(text), "SET %soom 1 PX 1000",
                                run->record->prefix) == '-' &&
               strncmp(text, "OOM", 3) == 0;
    case CHAOS_FAULT_SCRIPT_FLUSH:
        return chaos_master_say(run, node, text, sizeof(text), "SCRIPT EXISTS %s",
                                active->script) == '*' &&
               strstr(text, ":0\r\n") != NULL;
    default:
        return chaos_master_say(run, node, text, sizeof(text), "EXISTS %smarker",
                                run->record->prefix) == ':' &&
               strcmp(text, "0") == 0 && was_noticed(run, node);
    }
}

static bool seen(struct chaos_run *run, struct chaos_active *active)
{
    struct chaos_fault *fault = active->fault;
    char text[CHAOS_NODES_TEXT];
    if ((LASTING & CHAOS_BIT(fault->kind)) != 0)
        return chaos_masters_are_silent(run, fault);
    const char *what = fault->kind == CHAOS_FAULT_OOM            ? "answered a SET with -OOM"
                       : fault->kind == CHAOS_FAULT_SCRIPT_FLUSH ? "forgot a script of ours"
                       : run->options->markers ? "forgot a key of ours, and is quarantined"
                                               : "forgot a key of ours";
    for (unsigned i = 0; i < run->nodes; i++)
        if ((fault->nodes >> i & 1) != 0 && !is_hit(run, active, i)) {
            chaos_fault_tell(fault, "it can't be seen that node %u %s", i + 1, what);
            return false;
        }
    return chaos_fault_tell(fault, "%s %s", chaos_nodes_text(fault->nodes, text), what);
}

/* ---- the way of all of them ----------------------------------------------------------- */

static bool begin(struct chaos_run *run, struct chaos_active *active)
{
    for (unsigned i = 0; i < run->nodes; i++) {
        if ((active->fault->nodes >> i & 1) == 0)
            continue;
        active->done = true;
        if (!inflict(run, active, i)) {
            chaos_fault_tell(active->fault, "node %u did not take the command", i + 1);
            return false;
        }
    }
    return true;
}

/* A fault that was given its duration ends by itself. */
static bool undo(struct chaos_run *run, struct chaos_active *active)
{
    struct chaos_fault *fault = active->fault;
    char text[128];
    bool fine = true;
    for (unsigned i = 0; i < run->nodes && fault->kind == CHAOS_FAULT_OOM; i++)
        if (active->maxmemory[i][0] != '\0' &&
            chaos_master_say(run, i, text, sizeof(text), "CONFIG SET maxmemory %s",
                             active->maxmemory[i]) != '+') {
            chaos_fault_tell(fault, "the maxmemory of node %u is not put back: %s", i + 1,
                             active->maxmemory[i]);
            fine = false;
        }
    return fine;
}

static bool gone(struct chaos_run *run, struct chaos_active *active)
{
    struct chaos_fault *fault = active->fault;
    char text[128];
    if (!chaos_masters_answer(run, fault))
        return false;
    for (unsigned i = 0; i < run->nodes && fault->kind == CHAOS_FAULT_OOM; i++)
        if ((fault->nodes >> i & 1) != 0 &&
            chaos_master_say(run, i, text, sizeof(text), "SET %soom 1 PX 1000",
                             run->record->prefix) != '+') {
            chaos_fault_tell(fault, "node %u still answers a SET with: %.60s", i + 1, text);
            return false;
        }
    return true;
}

const struct chaos_fault_way chaos_faults_of_commands = {
    CHAOS_OF_COMMANDS, cannot, begin, seen, NULL, undo, gone,
};
