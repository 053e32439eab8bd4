/* sim_sentinel.h - model services: a master with replicas, and the Sentinels that name it.
 *
 * Service i's master is n(i+1) at first. Its replicas are behind all masters, and Sentinels are
 * behind all replicas, each of them a server of its own: what is done to masters (killed, stopped,
 * cut off, slow ...) can be done to each of these.
 *
 * A Sentinel is a register for each service: (master, term), which it tells whoever asks. It
 * leads a failover by steps, hears of a newer term from another one, and makes a replica of
 * whatever is not its master. In scenarios nothing of that happens by itself. In worlds each one
 * ticks (sim_sentinels_tick()), and draws what it does next.
 *
 *   sim_replica.c       replicas: copies, promotions, and what becomes of former masters
 *   sim_sentinel.c      registers, failovers, who has heard what
 *   sim_sentinel_tick.c what they do by themselves
 *   sim_sentinel_talk.c their commands
 */
#ifndef SIM_SENTINEL_H
#define SIM_SENTINEL_H

#include "sim_master.h"

enum { SIM_SERVICES_MAX = 3, SIM_SENTINELS_MAX = 6 };

/* ---- who there is ----------------------------------------------------------------------- */

unsigned sim_service_servers(void); /* replicas and Sentinels, all together */
/* The service that a server belongs to; of others, also of Sentinels, its own number. */
unsigned sim_service_of(unsigned server);
unsigned sim_replica_at(unsigned service, unsigned which);
unsigned sim_sentinel_at(unsigned service, unsigned which);
bool sim_is_sentinel(unsigned server);
unsigned sim_sentinels_of(unsigned service); /* how many watch it */
/* The one that the newest term names; of a master without Sentinels itself. */
unsigned sim_service_master(unsigned service);
uint64_t sim_service_term(unsigned service);
/* Whom a majority of its Sentinels names, in whatever term; without Sentinels: the one master. */
bool sim_service_named(unsigned service, unsigned *ret_master);
/* Since when it is that one, or says master; 0: since the beginning. */
int64_t sim_service_changed_ns(unsigned service);

/* ---- replication ------------------------------------------------------------------------ */

/* REPLICAOF: from now on it is a replica of that one, with the data that it had until they are
 * linked. `cut`: its clients' connections end, as Sentinel has it. False: it is down, stands, or
 * is one of that already. */
bool sim_replica_follows(unsigned server, unsigned master, bool cut);
/* They are linked: it has what the master has, less what was written in the last moment. `whole`:
 * by a full copy. False: one of them is down. */
bool sim_replica_linked(unsigned server, bool whole);
/* Not any more: it stays as it is, without what was written since `lag_ns` ago. */
void sim_replica_lost(unsigned server, int64_t lag_ns);
/* REPLICAOF NO ONE. One that says master already does nothing. */
void sim_replica_promoted(unsigned server, int64_t lag_ns);
bool sim_is_replica(unsigned server);

/* ---- Sentinels -------------------------------------------------------------------------- */

/* It begins a failover to that server. `elected`: its term is one that no other has; by hand
 * (SENTINEL FAILOVER) it is one more than what this one knows of. False: it is at one already. */
bool sim_sentinel_begins(unsigned sentinel, unsigned service, unsigned to, bool elected);
/* The next step: elected; chosen; told to be master (it is promoted, less `lag_ns`); seen to be
 * one (the term is raised here, and it is named); the others follow; done. False: it was over. */
bool sim_sentinel_steps(unsigned sentinel, unsigned service, int64_t lag_ns);
void sim_sentinel_gives_up(unsigned sentinel, unsigned service); /* before it was seen */
/* All steps, at once. */
void sim_sentinel_fails_over(unsigned sentinel, unsigned service, unsigned to);
/* A hello of the other one, or of all in turn. */
bool sim_sentinel_hears(unsigned sentinel, unsigned service, unsigned from);
void sim_sentinels_hear(unsigned service);
/* It finds that server to be no replica of its master, and makes it one. */
bool sim_sentinel_corrects(unsigned sentinel, unsigned service, unsigned server);
/* Its INFO has told it who its master's process is. */
void sim_sentinel_looks(unsigned sentinel, unsigned service);
/* Its next start is with the template: the first master, term 0. */
void sim_sentinel_forgets(unsigned sentinel);
/* Would that make a majority, with others that have not heard of a newer term? */
bool sim_sentinel_may_forget(unsigned sentinel);
/* What it says now; false: nobody. */
bool sim_sentinel_says(unsigned sentinel, unsigned service, unsigned *ret_master,
                       uint64_t *ret_term);
/* How long its process is up. */
int64_t sim_sentinel_up_ns(unsigned sentinel);

/* They do all that by themselves, until sim_sentinels_rest(). A failover is drawn by whoever
 * wants one. */
void sim_sentinels_tick(void);
void sim_sentinels_rest(void);
void sim_sentinel_deaf(unsigned sentinel, bool deaf); /* it hears no hello */
/* An operator puts all right: one master a service, and all have heard of it. */
void sim_sentinels_settle(void);

#endif
