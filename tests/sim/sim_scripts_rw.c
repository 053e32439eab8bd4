/* sim_scripts_rw.c - the scripts of read-write locks of one master
 * (lib/kinds/redisson_rw/read_*.lua and write_*.lua), said in C. Held against the real ones on
 * a real server by test_sim_master_real.
 */
#include "config_auto.h"

#include "sim_rw.h"

#include <stdio.h>

enum { ID_LEN = 36, NAMED_MAX = 16 };

static const struct sim_word turn = {"turn", 4};

/* How it went: 0, 1, 2 or 3. */
struct taken {
    enum rl_code code;
    int64_t left_ms;
    char who[SIM_MEMBER_MAX + 1];
    bool by_readers;
};

static bool refused(const struct sim_rw *rw, enum rl_code code, const struct sim_word *key,
                    const char *who, struct taken *ret)
{
    ret->code = code;
    sim_script_pttl(rw->run, key, &ret->left_ms);
    snprintf(ret->who, sizeof(ret->who), "%s", who);
    return true;
}

/* refuse() */
static bool refused_by_holders(const struct sim_rw *rw, bool reads, struct taken *ret)
{
    const struct sim_key *key = sim_rw_lock(rw);
    size_t many = key->members - 1;
    char who[SIM_MEMBER_MAX + 1];
    snprintf(who, sizeof(who), "%zu readers", many);
    for (size_t i = 0; (many == 1 || (!reads && many <= NAMED_MAX)) && i < key->members; i++) {
        const struct sim_member *member = &key->member[i];
        bool writes =
            member->len >= 6 && memcmp(member->text + member->len - 6, ":write", 6) == 0;
        if ((reads || writes) && strcmp(member->text, "mode") != 0)
            snprintf(who, sizeof(who), "%.*s", (int)(member->len - (reads ? 0 : 6)),
                     member->text);
    }
    ret->by_readers = reads;
    return refused(rw, RL_REFUSED, rw->lock, who, ret);
}

static void answer(struct sim_run *run, const struct taken *taken, const int64_t *place)
{
    if (taken->code == RL_GRANTED)
        sim_script_answer(run, true);
    else
        sim_script_refuse(run, taken->code, taken->left_ms,
                          &(struct sim_word){taken->who, strlen(taken->who)}, place);
}

/* ---- who waits: sets of clients --------------------------------------------------------- */

static struct sim_word client_of(const struct sim_word *waiter)
{
    return (struct sim_word){waiter->bytes, waiter->len < ID_LEN ? waiter->len : ID_LEN};
}

static bool is_in(struct sim_run *run, unsigned set, const struct sim_word *member)
{
    const struct sim_key *key = sim_script_key(run, sim_keys_at(run, set));
    return key && key->type == SIM_SET &&
           sim_member_find(key, member->bytes, member->len) < key->members;
}

/* By pcall. False: it could not be added. */
static bool put_in(struct sim_run *run, unsigned set, const struct sim_word *member)
{
    static const struct sim_word none = {"", 0};
    const struct sim_word *name = sim_keys_at(run, set);
    struct sim_key *key = sim_script_key(run, name);
    if (sim_script_enter(run, SIM_WRITES | SIM_DENYOOM) || (key && key->type != SIM_SET))
        return false;
    if (!key || sim_member_find(key, member->bytes, member->len) == key->members)
        sim_member_set(run->call->server, run->call->db, name, &key, SIM_SET, member, &none);
    return true;
}

/* By pcall. False: it was not in, or could not be taken out. */
static bool take_out_of(struct sim_run *run, unsigned set, const struct sim_word *member)
{
    struct sim_key *key = sim_script_key(run, sim_keys_at(run, set));
    if (sim_script_enter(run, SIM_WRITES) || !is_in(run, set, member))
        return false;
    sim_member_remove(key, sim_member_find(key, member->bytes, member->len));
    return true;
}

void sim_rw_turn_begins(struct sim_run *run)
{
    put_in(run, 4, &turn);
}

/* rw_turn.lua */
static int64_t kept_out_ms(struct sim_run *run)
{
    struct sim_word client = client_of(sim_argv_at(run, 5));
    int64_t marked_ms;
    sim_script_pttl(run, sim_keys_at(run, 3), &marked_ms);
    bool has_turn = is_in(run, 4, &turn) && is_in(run, 4, &client);
    return marked_ms > 0 && !has_turn ? marked_ms : 0;
}

static bool goes_in(const struct sim_rw *rw)
{
    struct sim_run *run = rw->run;
    struct sim_word client = client_of(sim_argv_at(run, 5));
    return is_in(run, 4, &turn) || !put_in(run, 4, &client) ||
           sim_rw_at_least(rw, sim_keys_at(run, 4), sim_argv_at(run, 6));
}

static void goes_out(struct sim_run *run, const struct sim_word *waiter)
{
    struct sim_word client = client_of(waiter);
    bool there, gone = take_out_of(run, 4, &client);
    if (!gone || !is_in(run, 4, &turn))
        return;
    if (sim_script_key(run, sim_keys_at(run, 4))->members == 1)
        sim_script_del(run, sim_keys_at(run, 4), &there);
}

/* ---- reading ---------------------------------------------------------------------------- */

/* rw_read.lua. False: the script has failed. */
static bool take_to_read(const struct sim_rw *rw, bool waits_too, struct taken *ret)
{
    struct sim_run *run = rw->run;
    char what[64];
    int i, count = 0;
    *ret = (struct taken){.code = RL_GRANTED};
    enum sim_rw_mode mode = sim_rw_state(rw, what);
    if (mode == SIM_RW_OTHER)
        return refused(rw, RL_REPLY_WRONGTYPE, rw->lock, what, ret);
    bool writes = mode == SIM_RW_WRITES;
    struct sim_key *key = sim_rw_lock(rw);
    if (writes && sim_member_find(key, rw->writer.bytes, rw->writer.len) == key->members)
        return refused_by_holders(rw, false, ret);
    i = mode == SIM_RW_FREE ? 0 : sim_rw_find(rw, rw->owner);
    if (i > 0) {
        if (!sim_rw_last_longer(rw, rw->owner, i))
            return false;
    } else {
        if (mode != SIM_RW_FREE && !sim_rw_compact(rw, rw->owner, &count))
            return false;
        i = 1 + count;
        if (i == 1 && !writes && waits_too && kept_out_ms(run) > 0)
            return refused(rw, RL_REFUSED, sim_keys_at(run, 3), "a writer that waits", ret);
        if (!sim_rw_set_lease(rw, rw->owner, i) ||
            !sim_rw_set_mode(rw, writes ? "write" : "read",
                             "call('HSET', KEYS[1], 'mode', m") ||
            !sim_rw_set_count(rw, rw->owner, i, "call('HSET', KEYS[1], 'mode', m"))
            return false;
    }
    return sim_rw_at_least(rw, rw->lock, sim_argv_at(run, 4)) &&
           (!writes || sim_rw_keep_writes(rw));
}

static void read_acquire(struct sim_run *run)
{
    struct sim_rw rw;
    struct taken taken;
    sim_rw_begin(&rw, run);
    if (take_to_read(&rw, true, &taken))
        answer(run, &taken, NULL);
}

static const int64_t no_queue = 0;

static void read_wait(struct sim_run *run)
{
    struct sim_rw rw;
    struct taken taken;
    sim_rw_begin(&rw, run);
    if (!take_to_read(&rw, true, &taken))
        return;
    if (taken.code == RL_GRANTED)
        goes_out(run, sim_argv_at(run, 5));
    else if (taken.code == RL_REFUSED && !goes_in(&rw))
        return;
    answer(run, &taken, &no_queue);
}

static void read_retake(struct sim_run *run)
{
    struct sim_rw rw;
    struct taken taken;
    sim_rw_begin(&rw, run);
    if (take_to_read(&rw, false, &taken))
        sim_script_answer(run, taken.code == RL_GRANTED);
}

static void read_leave(struct sim_run *run)
{
    goes_out(run, sim_argv_at(run, 2));
    sim_script_answer(run, true);
}

/* ---- writing ---------------------------------------------------------------------------- */

static bool add_writer(const struct sim_rw *rw, int count)
{
    int i = 1;
    while (i <= count && sim_rw_lease(rw, &rw->writer, i))
        i++;
    if (!sim_rw_may(rw, SIM_WRITES, "call('DEL', lease(field, count + 1))"))
        return false;
    sim_rw_drop_left(rw, &rw->writer, count + 1);
    return sim_rw_set_mode(rw, "write", "call('HSET', KEYS[1], 'mode', 'write'") &&
           sim_rw_set_count(rw, &rw->writer, count + 1,
                            "call('HSET', KEYS[1], 'mode', 'write'") &&
           sim_rw_set_lease(rw, &rw->writer, i);
}

/* rw_write.lua. False: the script has failed. */
static bool take_to_write(const struct sim_rw *rw, bool insists, struct taken *ret)
{
    struct sim_run *run = rw->run;
    char what[64];
    int reads = 0;
    *ret = (struct taken){.code = RL_GRANTED};
    enum sim_rw_mode mode = sim_rw_state(rw, what);
    if (mode == SIM_RW_OTHER)
        return refused(rw, RL_REPLY_WRONGTYPE, rw->lock, what, ret);
    if (mode == SIM_RW_READS && !sim_rw_compact(rw, rw->owner, &reads))
        return false;
    if (reads > 0)
        return refused(rw, RL_REPLY_UPGRADE, rw->lock, rw->owner->bytes, ret);
    struct sim_key *key = sim_rw_lock(rw);
    if (!key)
        mode = SIM_RW_FREE;
    bool mine = mode == SIM_RW_WRITES &&
                sim_member_find(key, rw->writer.bytes, rw->writer.len) < key->members;
    if (mode != SIM_RW_FREE && !mine)
        return refused_by_holders(rw, mode == SIM_RW_READS, ret);
    if (mode == SIM_RW_FREE && !insists && is_in(run, 4, &turn)) {
        ret->by_readers = true;
        return refused(rw, RL_REFUSED, sim_keys_at(run, 4), "readers whose turn it is", ret);
    }
    int i = mine ? sim_rw_find(rw, &rw->writer) : 0;
    bool done = i > 0 ? sim_rw_last_longer(rw, &rw->writer, i)
                      : add_writer(rw, mine ? sim_rw_count(rw, &rw->writer) : 0);
    return done && sim_rw_at_least(rw, rw->lock, sim_argv_at(run, 4)) && sim_rw_keep_writes(rw);
}

/* rw_mark.lua, and the answer. */
static void take_or_mark(struct sim_run *run, const int64_t *place)
{
    struct sim_rw rw;
    struct taken taken;
    sim_rw_begin(&rw, run);
    if (!take_to_write(&rw, false, &taken))
        return;
    const struct sim_word *ms = sim_argv_at(run, 6);
    struct sim_word client = client_of(sim_argv_at(run, 5));
    bool waits = ms->len != 1 || ms->bytes[0] != '0';
    if (taken.code == RL_GRANTED)
        take_out_of(run, 3, &client);
    else if (taken.by_readers && waits && put_in(run, 3, &client) &&
             !sim_rw_at_least(&rw, sim_keys_at(run, 3), ms))
        return;
    answer(run, &taken, place);
}

static void write_acquire(struct sim_run *run)
{
    take_or_mark(run, NULL);
}

static void write_wait(struct sim_run *run)
{
    take_or_mark(run, &no_queue);
}

static void write_retake(struct sim_run *run)
{
    struct sim_rw rw;
    struct taken taken;
    sim_rw_begin(&rw, run);
    if (take_to_write(&rw, true, &taken))
        sim_script_answer(run, taken.code == RL_GRANTED);
}

static void write_leave(struct sim_run *run)
{
    struct sim_word client = client_of(sim_argv_at(run, 2));
    if (take_out_of(run, 2, &client) && !sim_script_key(run, sim_keys_at(run, 2)))
        sim_script_publish(run, sim_keys_at(run, 3), "1");
    sim_script_answer(run, true);
}

/* ---- longer, and given up: sim_rw_release.c --------------------------------------------- */

static void read_extend(struct sim_run *run)
{
    sim_rw_extend(run, false);
}

static void read_release(struct sim_run *run)
{
    sim_rw_give_up(run, false);
}

static void write_extend(struct sim_run *run)
{
    sim_rw_extend(run, true);
}

static void write_release(struct sim_run *run)
{
    sim_rw_give_up(run, true);
}

const struct sim_known_script sim_scripts_rw[] = {
    {"read_acquire", read_acquire},
    {"read_wait", read_wait},
    {"read_extend", read_extend},
    {"read_retake", read_retake},
    {"read_release", read_release},
    {"read_leave", read_leave},
    {"write_acquire", write_acquire},
    {"write_wait", write_wait},
    {"write_extend", write_extend},
    {"write_retake", write_retake},
    {"write_release", write_release},
    {"write_leave", write_leave},
    {NULL, NULL},
};
