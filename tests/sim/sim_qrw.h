/* sim_qrw.h - between the files that play the scripts of read-write locks of several masters:
 * the set of who reads and writes, as qrw.lua and its like know it. */
#ifndef SIM_QRW_H
#define SIM_QRW_H

#include "sim_script_parts.h"

/* What qrw.lua begins with. */
struct sim_qrw {
    struct sim_run *run;
    const struct sim_word *set, *owner;
    double now_ms;
    size_t me_len;
    char me[2][SIM_MEMBER_MAX + 1]; /* as a reader, as a writer */
};

enum { SIM_QRW_READER, SIM_QRW_WRITER };

#define SIM_QRW_MOST 128 /* of a set with more a writer's script does not know all; not played */

/* False, of all of these: the script has failed, and that has been answered. */
bool sim_qrw_begin(struct sim_qrw *qrw, struct sim_run *run);
bool sim_qrw_put(const struct sim_qrw *qrw, int mode); /* that member of mine */
bool sim_qrw_settle(const struct sim_qrw *qrw);

/* tidy(). OTHERS: something else stands there; it is told (with that place, where it is not
 * NULL) if `tells`, and is FAILED then. */
enum sim_tidied { SIM_QRW_OURS, SIM_QRW_OTHERS, SIM_QRW_FAILED };
enum sim_tidied sim_qrw_tidy(const struct sim_qrw *qrw, bool tells, const int64_t *place);

/* NULL: nobody has it. */
struct sim_key *sim_qrw_set(const struct sim_qrw *qrw);

/* False: its form is not that of ours. */
bool sim_qrw_owner_of(const struct sim_member *member, struct sim_word *ret_owner);
struct sim_word sim_qrw_shown(const struct sim_member *member); /* the same, to be told */

/* Of those in the set that `others` and `writers` ask for: how many, and the last one. */
unsigned sim_qrw_look(const struct sim_qrw *qrw, bool others, bool writers,
                      const struct sim_member **ret_last);

/* `place`: not NULL where a fifth element is answered, as of one who should not wait. */
void sim_qrw_refuse(const struct sim_qrw *qrw, enum rl_code code, double ends_ms,
                    const struct sim_word *holder, const int64_t *place);

/* What the oracles are told of who comes and goes: the token, as of a lock that is a string;
 * where it comes beside one that it must not be with, as if it took that one's place. */
void sim_qrw_tell(const struct sim_qrw *qrw, const struct sim_member *member,
                  enum sim_change change);

#endif
