/* sim_scripts_qrw.c - the scripts of read-write locks of several masters
 * (lib/kinds/quorum_rw/q*.lua), said in C. Held against the real ones on a real server by
 * test_sim_master_real. */
#include "config_auto.h"

#include "sim_qrw.h"

#include <ctype.h>
#include <stdio.h>

#define TURN "turn:"

/* What the key KEYS[i] says, of readers who wait or have their turn: how it begins. False:
 * nothing, or it is other data. */
static bool readers_say(struct sim_run *run, unsigned i, const char *text)
{
    const struct sim_key *key;
    return !sim_script_get(run, sim_keys_at(run, i), &key) && key &&
           key->value.len >= strlen(text) && memcmp(key->value.bytes, text, strlen(text)) == 0;
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

/* For how many ms it is the readers' turn; false: it is not. */
static bool turn_lasts(struct sim_run *run, double *ret_ms)
{
    const struct sim_key *key;
    size_t digits = strlen(TURN);
    if (!readers_say(run, 3, TURN) || sim_script_get(run, sim_keys_at(run, 3), &key))
        return false;
    while (digits < key->value.len && isdigit((unsigned char)key->value.bytes[digits]))
        digits++;
    struct sim_word number = {key->value.bytes + strlen(TURN), digits - strlen(TURN)};
    return digits == key->value.len && number.len > 0 && sim_lua_number(&number, ret_ms);
}

/* Has it waited since before the turn began? False: the script has failed. */
static bool look_at_age(struct sim_run *run, double turn_ms, bool *ret_has_turn)
{
    const struct sim_word *age = sim_argv_at(run, 6);
    double age_us;
    int64_t left_ms;
    if (!age || !sim_lua_number(age, &age_us)) {
        sim_script_fail_lua(run, "take(turn and",
                            age ? "attempt to perform arithmetic on field '?' (a string value)"
                                : "attempt to perform arithmetic on field '?' (a nil value)");
        return false;
    }
    sim_script_pttl(run, sim_keys_at(run, 3), &left_ms);
    *ret_has_turn = age_us / 1000 >= turn_ms - (double)left_ms;
    return true;
}

static void read_wait(struct sim_run *run)
{
    double turn_ms;
    bool done, has_turn = false, turn = turn_lasts(run, &turn_ms);
    struct sim_qrw qrw;
    const struct sim_key *key;
    const struct sim_word *name = sim_keys_at(run, 3);
    if (!sim_qrw_begin(&qrw, run) || (turn && !look_at_age(run, turn_ms, &has_turn)))
        return;
    if (take_to_read(run, has_turn, &nowhere) && !turn && !sim_script_get(run, name, &key))
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
    assert(others + owns <= SIM_QRW_MOST);
    if (others > 0 && owns == 0) {
        struct sim_word holder = sim_qrw_shown(other);
        sim_qrw_refuse(&qrw, RL_REFUSED, other->score, &holder, place);
        return sim_qrw_look(&qrw, true, true, &writer) == 0;
    }
    if (owns > 0 && sim_qrw_look(&qrw, false, true, &writer) == 0) {
        const struct sim_key *key = sim_qrw_set(&qrw);
        struct sim_word holder = others > 0 ? sim_qrw_shown(other) : *qrw.owner;
        sim_qrw_refuse(&qrw, RL_REPLY_UPGRADE, key->member[key->members - 1].score, &holder,
                       place);
        return false;
    }
    if (owns == 0 && readers_say(run, 3, TURN)) {
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

/* The client of a waiter. False: the script has failed. */
static bool client_of(struct sim_run *run, const struct sim_word *waiter,
                      struct sim_word *ret_client)
{
    if (waiter)
        *ret_client = (struct sim_word){waiter->bytes, waiter->len < 36 ? waiter->len : 36};
    else
        sim_script_fail_lua(run, "string.sub(ARGV[",
                            "bad argument #1 to 'sub' (string expected, got nil)");
    return waiter != NULL;
}

static bool is_zero(const struct sim_word *word)
{
    return word && word->len == 1 && word->bytes[0] == '0';
}

static void take_or_mark(struct sim_run *run, const int64_t *place)
{
    bool done;
    struct sim_qrw qrw;
    struct sim_word client;
    const struct sim_key *mark;
    const struct sim_word *name = sim_keys_at(run, 2), *ttl = sim_argv_at(run, 6);
    if (sim_qrw_begin(&qrw, run) && client_of(run, sim_argv_at(run, 5), &client) &&
        take_to_write(run, place) && !is_zero(ttl) && !sim_script_get(run, name, &mark))
        sim_script_set(run, name, &client, ttl, false, &done);
}

static void write_acquire(struct sim_run *run)
{
    take_or_mark(run, NULL);
}

static void write_wait(struct sim_run *run)
{
    take_or_mark(run, &nowhere);
}

/* Is the key KEYS[i] the mark that this client left? */
static bool is_marked_by(struct sim_run *run, unsigned i, const struct sim_word *client)
{
    const struct sim_key *mark;
    return !sim_script_get(run, sim_keys_at(run, i), &mark) && mark &&
           mark->value.len == client->len &&
           memcmp(mark->value.bytes, client->bytes, client->len) == 0;
}

static void write_leave(struct sim_run *run)
{
    bool done;
    struct sim_word client;
    if (!client_of(run, sim_argv_at(run, 2), &client))
        return;
    if (is_marked_by(run, 1, &client)) {
        const char *error = sim_script_del(run, sim_keys_at(run, 1), &done);
        if (error) {
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

/* The last reader has gone: their turn is over. False: the script has failed. */
static bool end_turn(struct sim_run *run)
{
    bool done;
    const char *error = NULL;
    if (readers_say(run, 3, TURN) && (error = sim_script_del(run, sim_keys_at(run, 3), &done)))
        sim_script_fail(run, "redis.call('DEL', KEYS[3]", error);
    if (!error)
        sim_script_publish(run, sim_keys_at(run, 2), "0");
    return !error;
}

/* The last writer has gone: it is the turn of readers who wait. */
static void begin_turn(struct sim_run *run, const struct sim_word *keep)
{
    bool done;
    char text[64];
    int len = keep ? snprintf(text, sizeof(text), TURN "%.50s", keep->bytes) : 0;
    if (readers_say(run, 4, ""))
        sim_script_set(run, sim_keys_at(run, 4), &(struct sim_word){text, (size_t)len}, keep,
                       false, &done);
    sim_script_publish(run, sim_keys_at(run, 3), "1");
}

/* Take that member of mine out. False: it is not there, or the script has failed, and that has
 * been answered. */
static bool take_out(struct sim_qrw *qrw, int mode)
{
    struct sim_run *run = qrw->run;
    enum sim_tidied tidied = sim_qrw_tidy(qrw, false, NULL);
    if (tidied == SIM_QRW_FAILED)
        return false;
    const char *error = tidied == SIM_QRW_OURS ? sim_script_enter(run, SIM_WRITES) : NULL;
    if (error) {
        sim_script_fail(run, "redis.call('ZREM'", error);
        return false;
    }
    struct sim_key *key = tidied == SIM_QRW_OURS ? sim_qrw_set(qrw) : NULL;
    size_t which = key ? sim_member_find(key, qrw->me[mode], qrw->me_len) : 0;
    if (!key || which == key->members) {
        sim_script_answer(run, false);
        return false;
    }
    sim_qrw_tell(qrw, &key->member[which], SIM_DELETED);
    sim_member_remove(key, which);
    return sim_qrw_settle(qrw);
}

static void read_release(struct sim_run *run)
{
    struct sim_qrw qrw;
    if (!sim_qrw_begin(&qrw, run) || !take_out(&qrw, SIM_QRW_READER))
        return;
    if (is_zero(sim_argv_at(run, 4)) || sim_qrw_set(&qrw) || end_turn(run))
        sim_script_answer(run, true);
}

static void write_release(struct sim_run *run)
{
    bool done;
    struct sim_qrw qrw;
    struct sim_word client;
    const struct sim_member *writer;
    const struct sim_word *keep = sim_argv_at(run, 4);
    if (!sim_qrw_begin(&qrw, run) || !client_of(run, sim_argv_at(run, 5), &client))
        return;
    if (!is_zero(keep) && is_marked_by(run, 2, &client))
        sim_script_del(run, sim_keys_at(run, 2), &done);
    if (!take_out(&qrw, SIM_QRW_WRITER))
        return;
    if (!is_zero(keep) && sim_qrw_look(&qrw, false, true, &writer) == 0)
        begin_turn(run, keep);
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

static void write_extend(struct sim_run *run)
{
    lengthen(run, SIM_QRW_WRITER, false);
}

static void write_retake(struct sim_run *run)
{
    lengthen(run, SIM_QRW_WRITER, true);
}

const struct sim_known_script sim_scripts_qrw[] = {
    {"qread_acquire", read_acquire},   {"qread_wait", read_wait},
    {"qread_extend", read_extend},     {"qread_retake", read_retake},
    {"qread_release", read_release},   {"qwrite_acquire", write_acquire},
    {"qwrite_wait", write_wait},       {"qwrite_leave", write_leave},
    {"qwrite_extend", write_extend},   {"qwrite_retake", write_retake},
    {"qwrite_release", write_release}, {NULL, NULL},
};
