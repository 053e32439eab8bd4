/* sim_scripts_qrw.c - the scripts of read-write locks of several masters (lib/scripts/q*.lua),
 * said in C. Held against the real ones on a real server by test_sim_master_real. */
#include "config_auto.h"

#include "sim_qrw.h"

/* What the key KEYS[i] says, of readers who wait or have their turn. False: nothing, or it is
 * other data. */
static bool readers_say(struct sim_run *run, unsigned i, const char *text)
{
    const struct sim_key *key;
    return !sim_script_get(run, sim_keys_at(run, i), &key) && key &&
           (!text || (key->value.len == strlen(text) &&
                      memcmp(key->value.bytes, text, key->value.len) == 0));
}

/* ---- reading --------------------------------------------------------------------------- */

/* `place`: not NULL where a fifth element is answered, as of one who should not wait. True: it
 * has to wait. */
static bool take_to_read(struct sim_run *run, bool turn, const int64_t *place)
{
    struct sim_qrw qrw;
    const struct sim_member *writer, *own;
    if (!sim_qrw_begin(&qrw, run) || sim_qrw_tidy(&qrw, true, place) != SIM_QRW_OURS)
        return false;
    bool is_in = sim_qrw_look(&qrw, false, false, &own) > 0;
    if (!is_in && sim_qrw_look(&qrw, true, true, &writer) > 0) {
        struct sim_word holder = sim_qrw_shown(writer);
        sim_qrw_refuse(&qrw, RL_REFUSED, writer->score, &holder, place);
        return true;
    }
    const struct sim_key *mark;
    const char *error = sim_script_get(run, sim_keys_at(run, 2), &mark);
    if (!error && mark && !turn && !is_in) {
        static const char waiter[] = "a writer that waits";
        int64_t left_ms;
        sim_script_pttl(run, sim_keys_at(run, 2), &left_ms);
        sim_qrw_refuse(&qrw, RL_REFUSED, qrw.now_ms + (double)left_ms,
                       &(struct sim_word){waiter, sizeof(waiter) - 1}, place);
        return true;
    }
    if (sim_qrw_put(&qrw, SIM_QRW_READER))
        sim_script_answer(run, true);
    return false;
}

static const int64_t nowhere = -1;

static void read_acquire(struct sim_run *run)
{
    take_to_read(run, false, NULL);
}

static void read_wait(struct sim_run *run)
{
    bool done, turn = readers_say(run, 3, "turn");
    const struct sim_key *key;
    const struct sim_word *name = sim_keys_at(run, 3);
    if (take_to_read(run, turn, &nowhere) && !turn && !sim_script_get(run, name, &key))
        sim_script_set(run, name, &(struct sim_word){"wait", 4}, sim_argv_at(run, 5), false,
                       &done);
}

/* ---- writing --------------------------------------------------------------------------- */

/* False: the script has failed. */
static bool take_mark(struct sim_run *run)
{
    bool done;
    const struct sim_key *mark;
    const struct sim_word *name = sim_keys_at(run, 2);
    const char *error = sim_script_get(run, name, &mark);
    if (error || !mark)
        return true;
    if ((error = sim_script_del(run, name, &done)))
        sim_script_fail(run, "redis.call('DEL', KEYS[2]", error);
    return !error;
}

/* True: readers alone keep it out. */
static bool take_to_write(struct sim_run *run, const int64_t *place)
{
    struct sim_qrw qrw;
    const struct sim_member *other = NULL, *own, *writer;
    if (!sim_qrw_begin(&qrw, run) || sim_qrw_tidy(&qrw, true, place) != SIM_QRW_OURS)
        return false;
    unsigned others = sim_qrw_look(&qrw, true, false, &other),
             owns = sim_qrw_look(&qrw, false, false, &own);
    if (others > 0 && owns == 0) {
        struct sim_word holder = sim_qrw_shown(other);
        sim_qrw_refuse(&qrw, RL_REFUSED, other->score, &holder, place);
        return sim_qrw_look(&qrw, true, true, &writer) == 0;
    }
    if (owns > 0 && sim_qrw_look(&qrw, false, true, &writer) == 0) {
        const struct sim_key *key = sim_qrw_set(&qrw);
        struct sim_word holder = others > 0 ? sim_qrw_shown(other) : *qrw.owner;
        sim_qrw_refuse(&qrw, RL_UPGRADES, key->member[key->members - 1].score, &holder, place);
        return false;
    }
    if (owns == 0 && readers_say(run, 3, "turn")) {
        static const char readers[] = "readers whose turn it is";
        int64_t left_ms;
        sim_script_pttl(run, sim_keys_at(run, 3), &left_ms);
        sim_qrw_refuse(&qrw, RL_REFUSED, qrw.now_ms + (double)left_ms,
                       &(struct sim_word){readers, sizeof(readers) - 1}, place);
        return true;
    }
    if (sim_qrw_put(&qrw, SIM_QRW_WRITER) && take_mark(run))
        sim_script_answer(run, true);
    return false;
}

static void write_acquire(struct sim_run *run)
{
    take_to_write(run, NULL);
}

static void write_wait(struct sim_run *run)
{
    bool done;
    const struct sim_key *mark;
    const struct sim_word *name = sim_keys_at(run, 2);
    if (take_to_write(run, &nowhere) && !sim_script_get(run, name, &mark))
        sim_script_set(run, name, sim_argv_at(run, 5), sim_argv_at(run, 6), false, &done);
}

static bool is_waiters(const struct sim_key *mark, const struct sim_word *waiter)
{
    return mark && waiter && mark->value.len == waiter->len &&
           memcmp(mark->value.bytes, waiter->bytes, waiter->len) == 0;
}

static void write_leave(struct sim_run *run)
{
    bool done;
    const struct sim_key *mark;
    const struct sim_word *name = sim_keys_at(run, 1);
    const char *error = sim_script_get(run, name, &mark);
    if (!error && is_waiters(mark, sim_argv_at(run, 2))) {
        if ((error = sim_script_del(run, name, &done))) {
            sim_script_fail(run, "redis.call('DEL', KEYS[1]", error);
            return;
        }
        sim_script_publish(run, sim_keys_at(run, 2), "1");
    }
    sim_script_answer(run, true);
}

/* ---- both ------------------------------------------------------------------------------ */

static void lengthen(struct sim_run *run, int mode, bool retakes)
{
    struct sim_qrw qrw;
    const struct sim_member *member;
    if (!sim_qrw_begin(&qrw, run))
        return;
    enum sim_tidied tidied = sim_qrw_tidy(&qrw, false, NULL);
    if (tidied == SIM_QRW_FAILED)
        return;
    const struct sim_key *key = tidied == SIM_QRW_OURS ? sim_qrw_set(&qrw) : NULL;
    bool may = tidied == SIM_QRW_OURS;
    if (may && !retakes)
        may = key && sim_member_find(key, qrw.me[mode], qrw.me_len) < key->members;
    else if (may)
        may = sim_qrw_look(&qrw, true, mode == SIM_QRW_READER, &member) == 0;
    if (!may)
        sim_script_answer(run, false);
    else if (sim_qrw_put(&qrw, mode))
        sim_script_answer(run, true);
}

/* The last one has gone: whose turn is it? False: the script has failed. */
static bool turn_over(struct sim_run *run, int mode, const struct sim_word *keep)
{
    bool done;
    const struct sim_word *readers = sim_keys_at(run, 3);
    if (mode == SIM_QRW_WRITER && readers_say(run, 3, NULL))
        sim_script_set(run, readers, &(struct sim_word){"turn", 4}, keep, false, &done);
    const char *error = NULL;
    if (mode == SIM_QRW_READER && readers_say(run, 3, "turn") &&
        (error = sim_script_del(run, readers, &done)))
        sim_script_fail(run, "redis.call('DEL', KEYS[3]", error);
    if (!error)
        sim_script_publish(run, sim_keys_at(run, 2), mode == SIM_QRW_READER ? "0" : "1");
    return !error;
}

static void release(struct sim_run *run, int mode)
{
    struct sim_qrw qrw;
    const struct sim_member *writer;
    const struct sim_word *keep = sim_argv_at(run, 4);
    if (!sim_qrw_begin(&qrw, run))
        return;
    enum sim_tidied tidied = sim_qrw_tidy(&qrw, false, NULL);
    if (tidied == SIM_QRW_FAILED)
        return;
    const char *error = tidied == SIM_QRW_OURS ? sim_script_enter(run, SIM_WRITES) : NULL;
    if (error) {
        sim_script_fail(run, "redis.call('ZREM'", error);
        return;
    }
    struct sim_key *key = tidied == SIM_QRW_OURS ? sim_qrw_set(&qrw) : NULL;
    size_t which = key ? sim_member_find(key, qrw.me[mode], qrw.me_len) : 0;
    if (!key || which == key->members) {
        sim_script_answer(run, false);
        return;
    }
    sim_qrw_tell(&qrw, &key->member[which], SIM_DELETED);
    sim_member_remove(key, which);
    if (!sim_qrw_settle(&qrw))
        return;
    bool silent = keep && keep->len == 1 && keep->bytes[0] == '0';
    bool last = mode == SIM_QRW_READER ? !sim_qrw_set(&qrw)
                                       : sim_qrw_look(&qrw, false, true, &writer) == 0;
    if (!last || silent || turn_over(run, mode, keep))
        sim_script_answer(run, true);
}

static void read_extend(struct sim_run *run)
{
    lengthen(run, SIM_QRW_READER, false);
}

static void read_retake(struct sim_run *run)
{
    lengthen(run, SIM_QRW_READER, true);
}

static void read_release(struct sim_run *run)
{
    release(run, SIM_QRW_READER);
}

static void write_extend(struct sim_run *run)
{
    lengthen(run, SIM_QRW_WRITER, false);
}

static void write_retake(struct sim_run *run)
{
    lengthen(run, SIM_QRW_WRITER, true);
}

static void write_release(struct sim_run *run)
{
    release(run, SIM_QRW_WRITER);
}

const struct sim_known_script sim_scripts_qrw[] = {
    {"qread_acquire", read_acquire},   {"qread_wait", read_wait},
    {"qread_extend", read_extend},     {"qread_retake", read_retake},
    {"qread_release", read_release},   {"qwrite_acquire", write_acquire},
    {"qwrite_wait", write_wait},       {"qwrite_leave", write_leave},
    {"qwrite_extend", write_extend},   {"qwrite_retake", write_retake},
    {"qwrite_release", write_release}, {NULL, NULL},
};
