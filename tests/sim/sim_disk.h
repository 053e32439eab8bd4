/* sim_disk.h - what model masters write down of their keys, between the files of masters. */
#ifndef SIM_DISK_H
#define SIM_DISK_H

#include "sim_master_parts.h"

/* A process begins, with what its configuration file says. */
void sim_disk_begin(struct sim_server *server);

/* Would it have all of its keys if it ended now? */
bool sim_disk_keeps_all(const struct sim_server *server);

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
