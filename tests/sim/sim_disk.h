/* sim_disk.h - what model masters write down of their keys, between the files of masters. */
#ifndef SIM_DISK_H
#define SIM_DISK_H

#include "sim_master_parts.h"

/* A process has what its configuration file says. */
void sim_disk_begin(struct sim_server *server);

/* One has ended; another one follows, with such keys: may a lock be forgotten? */
void sim_disk_end(struct sim_server *server);
void sim_disk_follow(struct sim_server *server, enum sim_restart how);

/* If it has ended, and its machine with it: what it did later than this is lost. */
int64_t sim_disk_since_ns(const struct sim_server *server);

/* What it did until then is on its disk, whenever it ends. */
int64_t sim_disk_kept_ns(const struct sim_server *server);

/* A look that did all as it should has found that the master writes all first; or that it does
 * not, or it has another process now. The oracles go by this, and by no stamp. */
void sim_disk_vouch(struct sim_server *server);
void sim_disk_doubt(struct sim_server *server);

/* INFO's lines about the append-only file. */
void sim_disk_info(const struct sim_server *server, char *ret_text, size_t size);

#endif
