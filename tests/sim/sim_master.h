/* sim_master.h - a model of redis-server, as far as the library uses one: the protocol over
 * bytes, keys with expiry on a clock of its own, sorted sets, publish and subscribe, INFO,
 * and the library's scripts as C functions. Random differential runs hold it against a real
 * server (sim_master_real).
 */
#ifndef SIM_MASTER_H
#define SIM_MASTER_H

#include "sim_net.h"

/* What becomes of its data when it starts again. */
enum sim_restart {
    SIM_EMPTY,
    SIM_WHOLE,
    SIM_LATE, /* without the last second */
    SIM_SOME  /* without some keys, or a part of them, whenever they were written */
};

/* Answers that are errors, as a server in that state gives them, to the commands that it then
 * refuses (a MISCONF refuses writes; LOADING refuses nearly all; NOPERM is for scripts ...). */
enum sim_trouble {
    SIM_NO_TROUBLE,
    SIM_LOADING,
    SIM_OOM,
    SIM_MISCONF,
    SIM_READONLY,
    SIM_BUSY,
    SIM_NOPERM,
    SIM_NOAUTH,
    SIM_MASTERDOWN,
    SIM_NOSCRIPT, /* it knows no script, and takes none */
    SIM_GARBAGE,  /* bytes that are no protocol */
    SIM_HUGE,     /* a bulk that is announced as huge, or never finished */
    SIM_STRAY,    /* one reply too many: the stream is out of step */
    SIM_WRONG,    /* a reply of another shape or with another nonce */
    SIM_TROUBLES
};

enum sim_change {
    SIM_TAKEN,    /* was absent (or kept for the one who took it), is somebody's */
    SIM_LONGER,   /* PEXPIRE */
    SIM_DELETED,  /* by a client's command */
    SIM_EXPIRED,
    SIM_FLUSHED,  /* FLUSHALL, DEBUG RELOAD NOSAVE and the like */
    SIM_EVICTED,
    SIM_FORGOTTEN, /* a restart that did not bring it back */
    SIM_RESTORED  /* a restart that did, whether or not it was there before; told of each key */
};

/* A key that is a string (a lock) has changed. `by`: whose command, NULL where nobody's. */
struct sim_changed {
    unsigned master;
    enum sim_change change;
    const struct sim_proc *by;
    const char *command; /* the script's name ("release"), or the command's; NULL */
    const char *argument; /* the token that the command gave, NULL where it has none */
    const char *name, *before, *after; /* the value; NULL: absent */
    int64_t end_ns; /* true time at which it will expire, as far as is known now */
};

/* A script of fair locks was asked for and has answered; or (`script` NULL) the master's data is
 * another now: gone, or `torn`, as by an eviction. */
struct sim_asked {
    unsigned master;
    const char *script, *name, *owner;
    bool had; /* the lock was somebody's before */
    bool torn, evicted;
    int code;       /* enum rl_code */
    int64_t place;  /* -1: it was put in no queue */
    int64_t now_ms; /* of the master's clock */
};

/* A Sentinel was asked who is master, and has said it. */
struct sim_stated {
    unsigned sentinel, service;
    const struct sim_proc *to;
    bool told; /* false: it names nobody, between two masters */
    unsigned master;
    uint64_t term;
};

struct sim_masters_options {
    unsigned count;
    unsigned spare; /* more servers, behind these, that no list names: see sim_path_lead() */
    unsigned shared; /* that master's name leads to the spare server as well; 0: none, 1: n1 */
    /* Each master is a service with so many replicas, and so many Sentinels watch it: of its own,
     * or all the same ones (sim_sentinel.h). Their servers are behind those, see there. */
    unsigned replicas, sentinels;
    bool same_sentinels;
    const char *sentinel_password; /* NULL: none */
    unsigned db;          /* the one that locks are looked for in */
    const char *password; /* NULL: none */
    void (*changed)(const struct sim_changed *changed); /* NULL: nobody looks */
    void (*asked)(const struct sim_asked *asked);       /* NULL: likewise */
    void (*stated)(const struct sim_stated *stated);    /* NULL: likewise */
};

/* They have been up for a day, and their clocks show about the same. */
void sim_masters_begin(const struct sim_masters_options *options);
void sim_masters_end(void);

/* Its name has another address from now on, which is the first spare server's. */
void sim_master_share_name(unsigned master, bool shares);
/* That server; SIM_MASTERS_MAX: there is none. */
unsigned sim_master_shares_name(unsigned master);

/* Faults. `master` counts from 0. */
void sim_master_kill(unsigned master); /* at once; connections are reset or closed (drawn) */
void sim_master_start(unsigned master, enum sim_restart how); /* new run_id, uptime 0 */
bool sim_master_up(unsigned master);
void sim_master_pause(unsigned master, int64_t for_ns); /* SIGSTOP, DEBUG SLEEP */
void sim_master_step_clock(unsigned master, int64_t by_ns);
void sim_master_clock_rate(unsigned master, int64_t rate_ppb);
/* How far their clocks are apart now, at most. */
int64_t sim_masters_apart_ns(void);
void sim_master_flushall(unsigned master);
void sim_master_lose(unsigned master);  /* what it granted is as lost as by a restart */
void sim_master_empty(unsigned master); /* the same, and it cuts all connections */
void sim_master_copy(unsigned master);  /* behind them is its replica now, which was promoted */
void sim_master_mark(unsigned master);  /* as `redlock init` does */
bool sim_master_certified(unsigned master); /* for fencing tokens, and up */
/* It may name tokens above that number: as `redlock init` does. */
void sim_master_certify(unsigned master, uint64_t above);
/* A counter or the certificate gets a greater number; `down`: or a lower one. */
bool sim_master_set_number(unsigned master, bool down);
void sim_master_forget_numbers(unsigned master); /* its counters are deleted */
void sim_master_script_flush(unsigned master);
/* A restart with SIM_SOME loses this key, and nothing is drawn; NULL: any, drawn. */
void sim_master_loses(unsigned master, const char *name);
void sim_master_shorten(unsigned master, const char *name, int64_t ttl_ms); /* PEXPIRE */
bool sim_master_evict(unsigned master); /* one key, drawn. False: there was none */
/* At this rate commands that such a state concerns are answered like that. */
void sim_master_trouble(unsigned master, enum sim_trouble trouble, unsigned per_million);
/* Its answer to the command of that number (1: the next one) is this lie, and with `always` each
 * later one to a command or script of that name. One master lies at a time. */
void sim_lie_begin(unsigned master, uint64_t number, bool always, unsigned lie);
void sim_lie_ends(void);
unsigned sim_lies(void); /* how many there are */
void sim_lie_text(unsigned lie, char *ret_text, size_t size);
const char *sim_lie_of(void);  /* what was answered so */
uint64_t sim_lie_heard(void);  /* commands so far */
/* It tells everybody who listens there of releases that did not happen, once. */
void sim_master_cry(unsigned master);
void sim_master_uptime(unsigned master, int64_t seconds); /* as if started so long ago */
void sim_master_run_id(unsigned master, const char *run_id); /* for the same server twice */
void sim_master_replication(unsigned master, const char *id);
void sim_master_role(unsigned master, const char *role);
/* How long a command takes it; at first 1 to 20 us. */
void sim_master_slow(unsigned master, int64_t low_ns, int64_t high_ns);
/* Stop reading its clients' bytes, or executing, right before or after the next script of
 * that name, by being killed: "acquire", "release"; NULL: not any more. */
void sim_master_kill_at(unsigned master, const char *script, bool executed);

unsigned sim_master_count(void); /* as begun with */
unsigned sim_server_count(void); /* with all that are behind them */

/* Looking. The value is good until the master changes; NULL: absent. */
const char *sim_master_get(unsigned master, const char *name, int64_t *ret_left_ns);
size_t sim_master_members(unsigned master, const char *name); /* of what is no string */
size_t sim_master_keys(unsigned master);   /* of every type, but no expired ones and no marker */
unsigned sim_master_scripts(unsigned master); /* that it knows */
uint64_t sim_master_commands(unsigned master); /* executed so far */
uint64_t sim_master_troubled(unsigned master); /* answered with trouble so far */

/* What came of other faults so far. */
struct sim_master_felt {
    uint64_t ended;   /* connections, by its death */
    uint64_t hits;    /* scripts at which it was killed */
    uint64_t stood;   /* commands that waited for the end of a pause */
    uint64_t slow;    /* commands for which it took more time than usual */
    uint64_t unknown; /* scripts asked for that it had been made to forget */
};
const struct sim_master_felt *sim_master_felt(unsigned master);

#endif
