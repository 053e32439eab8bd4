/* run_account.c - why the lock was lost: what the library knows of it, as text and JSON. */
#include "config_auto.h"

#include "redlock/run.h"

#include <stdio.h>
#include <string.h>

bool run_was_held(const struct run *run, int released)
{
    return run->hold.text[0] && run->hold.loss == REDLOCK_LOSS_NONE &&
           released != REDLOCK_EEXPIRED;
}

const char *run_account(const struct run *run, int released)
{
    if (run->hold.loss == REDLOCK_LOSS_NONE && released == REDLOCK_EEXPIRED)
        return "it was gone when it was to be released: its key was deleted, not by its holder";
    if (!run->hold.text[0])
        return "no more is known";
    /* Without a cause, which is not the lock's. */
    const char *times = run_was_held(run, released) ? strstr(run->hold.text, "; ") : NULL;
    return times ? times + 2 : run->hold.text;
}

static const char *loss_word(int loss)
{
    static const char *const words[] = {
        [REDLOCK_LOSS_NONE] = "none",       [REDLOCK_LOSS_MASTERS] = "masters",
        [REDLOCK_LOSS_GONE] = "gone",       [REDLOCK_LOSS_VOID] = "void",
        [REDLOCK_LOSS_STOPPED] = "stopped", [REDLOCK_LOSS_SUSPENDED] = "suspended",
        [REDLOCK_LOSS_CLOCK] = "clock",     [REDLOCK_LOSS_MAX_HOLD] = "max hold",
        [REDLOCK_LOSS_RAN_OUT] = "ran out", [REDLOCK_LOSS_BROKEN] = "broken",
    };
    return loss >= 0 && (size_t)loss < sizeof(words) / sizeof(words[0]) ? words[loss] : "other";
}

static const char *vote_word(int vote)
{
    switch (vote) {
    case REDLOCK_VOTE_GRANTED:
        return "granted";
    case REDLOCK_VOTE_FREE:
        return "gone";
    case REDLOCK_VOTE_FAILED:
        return "failed";
    default:
        return "none";
    }
}

static void print_time(FILE *out, const char *key, int64_t ms)
{
    if (ms >= 0)
        fprintf(out, ",\"%s\":%lld", key, (long long)ms);
}

static void print(FILE *out, const redlock_hold_report *hold)
{
    fprintf(out, ",\"loss\":\"%s\"", loss_word(hold->loss));
    print_time(out, "held_ms", hold->held_ms);
    print_time(out, "confirmed_ms", hold->confirmed_ms);
    fprintf(out, ",\"confirmed\":%u,\"needed\":%u", hold->confirmed, hold->needed);
    print_time(out, "absent_ms", hold->absent_ms);
    fputs(",\"nodes\":[", out);
    for (unsigned i = 0; i < hold->node_count; i++) {
        const redlock_node_hold *node = &hold->node[i];
        fputs(i > 0 ? ",{" : "{", out);
        cli_json_text(out, "node", node->node);
        fputc(',', out);
        cli_json_text(out, "vote", vote_word(node->vote));
        print_time(out, "since_ms", node->since_ms);
        if (node->text[0]) {
            fputc(',', out);
            cli_json_text(out, "text", node->text);
        }
        fputc('}', out);
    }
    fputc(']', out);
}

/* At once: the masters' names are gone with the client. */
void run_look_back(struct run *run)
{
    size_t len;
    run->hold = (redlock_hold_report)REDLOCK_HOLD_REPORT_INIT(run->holds, REDLOCK_NODES_MAX);
    if (redlock_get_hold(run->lock, &run->hold) != REDLOCK_OK) {
        run->hold.text[0] = '\0';
        return;
    }
    FILE *out = run->cli->json ? open_memstream(&run->loss_json, &len) : NULL;
    if (!out)
        return;
    print(out, &run->hold);
    fclose(out);
}
