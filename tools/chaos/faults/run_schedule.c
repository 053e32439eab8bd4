/* run_schedule.c - see run_schedule.h. */
#include "config_auto.h"

#include "chaos/faults/fault.h"
#include "chaos/faults/run_schedule.h"

#include "base/limits.h"
#include "core/quorum.h"
#include "kinds/fencing.h"

#include <string.h>

#define TICK_MS 5
#define LOOK_EVERY_MS 50
#define GONE_LIMIT_MS 8000 /* to be undone, beside faults with a set duration */

struct stage {
    struct chaos_run *run;
    size_t next; /* fault to be begun */
    int64_t looked_ns;
    int64_t asked_ns; /* who has counters */
    struct chaos_active active[CHAOS_ACTIVE_MAX];
};

/* ---- possible kinds -------------------------------------------------------------------- */

/* NULL, or why this kind can't be in this run. */
static const char *refusal(struct chaos_run *run, enum chaos_fault_kind kind, uint64_t named)
{
    uint64_t bit = CHAOS_BIT(kind);
    bool to_masters = ((CHAOS_OF_COMMANDS | CHAOS_OF_PLACES) & bit) != 0;
    if (to_masters && !run->place.ours && !run->options->yes)
        return "it is done to masters that were not started here; --yes allows it";
    if ((CHAOS_NOT_UNDONE & bit) != 0 && !run->place.ours && (named & bit) == 0)
        return "others may miss what it takes away; it must be named in --faults";
    return chaos_fault_way(kind)->cannot(run, kind);
}

bool chaos_run_schedule_possible(struct chaos_run *run, uint64_t named, uint64_t *faults,
                                 char *why, size_t why_size)
{
    for (int i = 0; i < CHAOS_FAULT_KINDS; i++) {
        enum chaos_fault_kind kind = (enum chaos_fault_kind)i;
        if ((*faults & CHAOS_BIT(i)) == 0)
            continue;
        const char *reason = refusal(run, kind, named);
        if (reason == NULL)
            continue;
        if ((named & CHAOS_BIT(i)) != 0) {
            snprintf(why, why_size, "--faults %s: %s", chaos_fault_word(kind), reason);
            return false;
        }
        printf("left out: %s (%s)\n", chaos_fault_word(kind), reason);
        *faults &= ~CHAOS_BIT(i);
    }
    return true;
}

/* ---- one fault ------------------------------------------------------------------------- */

static void begin(struct stage *stage, struct chaos_active *active, struct chaos_fault *fault)
{
    *active = (struct chaos_active){.fault = fault, .client = -1};
    fault->begun_ns = chaos_now_ns();
    if (!chaos_fault_way(fault->kind)->begin(stage->run, active) && active->done) {
        /* A fault done halfway is undone in its time, and does not count as seen. */
        active->failed = true;
    } else if (!active->done) {
        active->fault = NULL;
        fault->undone_ns = chaos_now_ns();
    }
}

static void look(struct stage *stage, struct chaos_active *active)
{
    struct chaos_fault *fault = active->fault;
    if (!fault->seen && !active->failed)
        fault->seen = chaos_fault_way(fault->kind)->seen(stage->run, active);
}

/* Wait until the fault is seen to be undone. The text about its effect is kept. */
static void await_gone(struct chaos_run *run, struct chaos_active *active)
{
    struct chaos_fault *fault = active->fault;
    char text[sizeof(fault->text)];
    int64_t limit_ns = chaos_now_ns() + fault->length_ns + GONE_LIMIT_MS * RL_NS_PER_MS;
    memcpy(text, fault->text, sizeof(text));
    bool was_ending = run->ending;
    run->ending = was_ending || chaos_run_is_over(run);
    do {
        if (chaos_fault_way(fault->kind)->gone(run, active)) {
            memcpy(fault->text, text, sizeof(text));
            break;
        }
        if (chaos_now_ns() > limit_ns) {
            fault->seen = false;
            chaos_run_fail(run, "%s was not undone: %s", chaos_fault_word(fault->kind),
                           fault->text);
            break;
        }
    } while (chaos_pause_ms(20));
    run->ending = was_ending;
}

static void finish(struct stage *stage, struct chaos_active *active)
{
    struct chaos_run *run = stage->run;
    struct chaos_fault *fault = active->fault;
    look(stage, active);
    bool was_ending = run->ending;
    run->ending = was_ending || chaos_run_is_over(run);
    bool undone = chaos_fault_way(fault->kind)->undo(run, active);
    run->ending = was_ending;
    fault->undone_ns = chaos_now_ns();
    if (undone)
        await_gone(run, active);
    else
        chaos_run_fail(run, "%s could not be undone: %s", chaos_fault_word(fault->kind),
                       fault->text);
    active->fault = NULL;
}

/* ---- all of them ----------------------------------------------------------------------- */

static bool is_due(const struct chaos_active *active, int64_t now_ns)
{
    return now_ns >= active->fault->begun_ns + active->fault->length_ns;
}

/* All faults planned to end before this one begins have ended. */
static bool may_begin(const struct stage *stage, const struct chaos_fault *fault)
{
    for (size_t i = 0; i < CHAOS_ACTIVE_MAX; i++) {
        const struct chaos_fault *other = stage->active[i].fault;
        if (other != NULL && other->planned_ns + other->length_ns <= fault->planned_ns)
            return false;
    }
    return true;
}

static bool has_counters(struct chaos_run *run, unsigned node)
{
    static const char certified[] = "certified ";
    char text[512];
    return chaos_master_say(run, node, text, sizeof(text), "GET " RL_FENCING_KEY) == '$' &&
           strncmp(text, certified, sizeof(certified) - 1) == 0;
}

/* Losses add up until the contenders have certified what was lost before, for which they need a
 * quorum of the others. */
static bool may_lose(struct stage *stage, const struct chaos_fault *fault)
{
    struct chaos_run *run = stage->run;
    uint64_t lost = fault->nodes;
    if (!run->options->certified || !chaos_fault_guarded(run->options, fault->kind))
        return true;
    if (chaos_now_ns() < stage->asked_ns + LOOK_EVERY_MS * RL_NS_PER_MS)
        return false;
    stage->asked_ns = chaos_now_ns();
    for (unsigned i = 0; i < run->nodes; i++)
        if ((lost & rl_bit(i)) == 0 && !has_counters(run, i))
            lost |= rl_bit(i);
    return run->nodes - rl_count(lost) >= rl_quorum_needed(run->nodes);
}

static struct chaos_active *find_room(struct stage *stage)
{
    for (size_t i = 0; i < CHAOS_ACTIVE_MAX; i++)
        if (stage->active[i].fault == NULL)
            return &stage->active[i];
    return NULL;
}

static void begin_due(struct stage *stage)
{
    struct chaos_run *run = stage->run;
    while (stage->next < run->fault_count && !chaos_run_is_over(run)) {
        struct chaos_fault *fault = &run->faults[stage->next];
        struct chaos_active *room = find_room(stage);
        if (chaos_now_ns() < fault->planned_ns || room == NULL || !may_begin(stage, fault) ||
            !may_lose(stage, fault))
            return;
        stage->next++;
        begin(stage, room, fault);
    }
}

/* Observe the faults in force, and end them in their time. Returns how many stay in force. */
static unsigned tend(struct stage *stage, bool over)
{
    unsigned count = 0;
    int64_t now_ns = chaos_now_ns();
    bool looks = now_ns >= stage->looked_ns + LOOK_EVERY_MS * RL_NS_PER_MS;
    for (size_t i = 0; i < CHAOS_ACTIVE_MAX; i++) {
        struct chaos_active *active = &stage->active[i];
        if (active->fault == NULL)
            continue;
        if (over || is_due(active, now_ns)) {
            finish(stage, active);
            continue;
        }
        count++;
        if (looks)
            look(stage, active);
        if (chaos_fault_way(active->fault->kind)->again != NULL)
            chaos_fault_way(active->fault->kind)->again(stage->run, active);
    }
    if (looks)
        stage->looked_ns = chaos_now_ns();
    return count;
}

void chaos_run_schedule(struct chaos_run *run)
{
    static struct stage stage;
    stage = (struct stage){.run = run};
    for (;;) {
        bool over = chaos_run_is_over(run);
        if (tend(&stage, over) == 0 && over)
            break;
        begin_due(&stage);
        (void)chaos_pause_ms(TICK_MS);
    }
}
