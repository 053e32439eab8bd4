/* sim_fault_do.c - each kind of fault done, undone when its time is over, and counted where
 * somebody met it. One that nobody has met has changed nothing: it waits for somebody. */
#include "config_auto.h"

#include "sim_effect.h"

#include <stdio.h>

enum { EFFECTS_MAX = 1024, MARK_FAULT = 0x341 };

static struct sim_effect effects[EFFECTS_MAX]; /* in force, or to be met still */
static unsigned effects_used;                  /* none behind these */
static int64_t over_ns;
static bool ended;

void sim_fault_lasts_until(int64_t at_ns)
{
    if (at_ns > over_ns)
        over_ns = at_ns;
}

/* ---- of which sort -------------------------------------------------------------------- */

/* Done in an instant, and met by what was there then, or never. */
static bool is_instant(enum sim_fault fault)
{
    switch (fault) {
    case SIM_FAULT_CLOCK_BACK:
    case SIM_FAULT_RESET:
    case SIM_FAULT_FLUSHALL:
    case SIM_FAULT_EVICT:
    case SIM_FAULT_STEP:
    case SIM_FAULT_REPLACE:
    case SIM_FAULT_EMPTY:
    case SIM_FAULT_WARM:
    case SIM_FAULT_GONE:
    case SIM_FAULT_COPY:
    case SIM_FAULT_NUMBER:
    case SIM_FAULT_FAILOVER:
    case SIM_FAULT_FAILOVER_BY_HAND:
    case SIM_FAULT_PROMOTED:
    case SIM_FAULT_FORGETS:
    case SIM_FAULT_ALL_FORGET:
    case SIM_FAULT_DEMOTED:
        return true;
    default:
        return false;
    }
}

/* Done in an instant, and met later: nothing is to be undone. */
static bool stands(enum sim_fault fault)
{
    return fault == SIM_FAULT_OWN_BACK || fault == SIM_FAULT_OWN_UNSEEN ||
           fault == SIM_FAULT_OWN_FORWARD || fault == SIM_FAULT_WALL ||
           fault == SIM_FAULT_SCRIPT_FLUSH ||
           fault == SIM_FAULT_CLOCK_RATE || fault == SIM_FAULT_HALF_OPEN ||
           fault == SIM_FAULT_CUT_AFTER;
}

/* Over by itself, when it is: nobody can end it earlier. */
static bool is_pause(enum sim_fault fault)
{
    return fault == SIM_FAULT_PAUSE || fault == SIM_FAULT_PROC_PAUSE ||
           fault == SIM_FAULT_PROC_SUSPEND || fault == SIM_FAULT_FREEZE;
}

/* Of these several may be in force at one place. */
static bool adds_up(enum sim_fault fault)
{
    return is_pause(fault) || fault == SIM_FAULT_PROC_CRASH ||
           (fault >= SIM_FAULT_HOLE && fault <= SIM_FAULT_RING) || fault == SIM_FAULT_DELAY;
}

/* What a master has instead of its own answers. */
static bool answers(enum sim_fault fault)
{
    return fault == SIM_FAULT_TROUBLE || fault == SIM_FAULT_LIES;
}

/* Two of one kind at one place: there the second means nothing while the first is in force. */
static bool alike(const struct sim_effect *a, const struct sim_effect *b)
{
    bool both_answers = answers(a->fault) && answers(b->fault);
    if (adds_up(a->fault) || (a->fault != b->fault && !both_answers))
        return false;
    bool same_master = a->master == b->master, same_proc = a->proc == b->proc;
    if (sim_fault_is_of_path(a->fault))
        return same_master && same_proc;
    return sim_fault_is_of_master(a->fault) ? same_master : same_proc;
}

/* ---- those in force ------------------------------------------------------------------- */

unsigned sim_fault_successors(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < effects_used; i++)
        count += effects[i].used && effects[i].fault == SIM_FAULT_PROC_CRASH;
    return count;
}

uint64_t sim_fault_pairs(unsigned actor, enum sim_way way)
{
    uint64_t pairs = 0;
    for (unsigned i = 0; i < effects_used; i++) {
        if (effects[i].used && effects[i].ways[way])
            pairs |= effects[i].pairs[actor];
    }
    return pairs;
}

static bool is_met(const struct sim_effect *effect)
{
    return effect->felt || sim_fault_felt(effect) != effect->before;
}

bool sim_fault_waits(const struct sim_effect *effect)
{
    for (unsigned i = 0; i < effects_used; i++) {
        const struct sim_effect *other = &effects[i];
        if (other->used && alike(other, effect) && !(stands(other->fault) && is_met(other)))
            return true;
    }
    return false;
}

bool sim_fault_delays(const struct sim_proc *proc, unsigned master)
{
    for (unsigned i = 0; i < effects_used; i++) {
        const struct sim_effect *effect = &effects[i];
        if (effect->used && effect->fault == SIM_FAULT_DELAY && effect->master == master &&
            (!effect->proc || effect->proc == proc))
            return true;
    }
    return false;
}

static void do_it(struct sim_effect *effect, int64_t for_ns)
{
    if (sim_fault_is_of_master(effect->fault))
        sim_fault_do_to_master(effect, for_ns);
    else if (sim_fault_is_of_path(effect->fault))
        sim_fault_do_to_path(effect);
    else
        sim_fault_do_to_proc(effect, for_ns);
}

/* ---- undone --------------------------------------------------------------------------- */

static void count(struct sim_effect *effect)
{
    effect->used = false;
    if (is_met(effect))
        sim_world.tally->felt[effect->fault]++;
}

static void undo(struct sim_effect *effect)
{
    count(effect);
    if (sim_fault_is_of_path(effect->fault))
        sim_fault_undo_to_path(effect);
    else if (sim_fault_is_of_master(effect->fault))
        sim_fault_undo_to_master(effect);
    else
        sim_fault_undo_to_proc(effect);
}

static bool is_over(const struct sim_effect *effect)
{
    return ended || is_met(effect) ||
           (effect->proc && effect->proc->crashed && effect->fault != SIM_FAULT_PROC_CRASH);
}

/* It begins, or begins once more since nobody has met it, and is drawn anew but for who it is
 * done to: for so long, and then for longer each time, so that few looks do. */
static void go_on(struct sim_effect *effect)
{
    int64_t now_ns = sim_now_ns(), for_ns = (now_ns - effect->begun_ns) / 16;
    if (for_ns < effect->for_ns)
        for_ns = effect->for_ns;
    if (now_ns == effect->begun_ns || !sim_fault_is_of_path(effect->fault))
        do_it(effect, for_ns);
    sim_fault_lasts_until(now_ns + for_ns);
    if (is_instant(effect->fault))
        count(effect);
    else if (!stands(effect->fault))
        sim_at(&effect->event, now_ns + for_ns);
}

static void on_over(struct sim_event *event)
{
    struct sim_effect *effect = (struct sim_effect *)event;
    if (!is_over(effect)) {
        go_on(effect);
        return;
    }
    sim_tell("over: %s", sim_fault_word(effect->fault));
    undo(effect);
}

/* ---- done ----------------------------------------------------------------------------- */

static struct sim_effect *free_effect(void)
{
    for (unsigned i = 0; i < effects_used; i++) {
        if (!effects[i].used)
            return &effects[i];
    }
    return effects_used < EFFECTS_MAX ? &effects[effects_used++] : NULL;
}

static void tell(const struct sim_effect *effect)
{
    char master[8] = "", *and = "";
    sim_mark(MARK_FAULT, effect->fault, (uint64_t)effect->for_ns);
    if (!sim_tells())
        return;
    if (effect->fault < SIM_FAULT_PROC_PAUSE || !effect->proc)
        snprintf(master, sizeof(master), "n%u", effect->master + 1);
    if (master[0] && effect->proc)
        and = ", ";
    sim_tell("fault: %s (%s%s%s) for %.3f ms", sim_fault_word(effect->fault), master, and,
             effect->proc ? effect->proc->name : "", (double)effect->for_ns / (double)SIM_MS);
}

/* What was met so far is theirs, and from here on the new one's. */
static void count_former(const struct sim_effect *effect)
{
    for (unsigned i = 0; i < effects_used; i++) {
        if (effects[i].used && alike(&effects[i], effect))
            count(&effects[i]);
    }
}

bool sim_fault_do(enum sim_fault fault, int64_t for_ns)
{
    struct sim_effect *effect = free_effect();
    if (!effect)
        return false;
    *effect = (struct sim_effect){
        .event.fire = on_over,
        .fault = fault,
        .begun_ns = sim_now_ns(),
        .for_ns = for_ns,
    };
    if (!sim_fault_aim(effect))
        return false;
    tell(effect);
    count_former(effect);
    effect->used = true;
    effect->before = sim_fault_felt(effect);
    go_on(effect);
    return true;
}

int64_t sim_fault_over_ns(void)
{
    return over_ns;
}

void sim_fault_do_begin(void)
{
    effects_used = 0;
    over_ns = 0;
    ended = false;
}

void sim_fault_undo_all(void)
{
    ended = true;
    for (unsigned i = 0; i < effects_used; i++) {
        if (!effects[i].used || stands(effects[i].fault) || is_pause(effects[i].fault))
            continue;
        sim_not(&effects[i].event);
        undo(&effects[i]);
    }
}

void sim_fault_count_all(void)
{
    for (unsigned i = 0; i < effects_used; i++) {
        if (effects[i].used)
            count(&effects[i]);
    }
}
