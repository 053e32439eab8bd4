/* run_scene.h - a `redlock run` under way, for the tests of how it ends. All processes that
 * take part are known by pid. So is the time by which they must be gone. */
#ifndef TEST_RUN_SCENE_H
#define TEST_RUN_SCENE_H

#include "cli_rig.h"

#define SCENE_NAME "guarded"
#define SCENE_PIDS_MAX 8

struct scene {
    struct program *run;
    pid_t guard;
    pid_t pids[SCENE_PIDS_MAX]; /* COMMAND first */
    int pid_count;
};

/* Three processes: COMMAND, a child in its group, and a grandchild that left the group and the
 * session and was orphaned (a daemon). The first ignores TERM. */
extern const char scene_stubborn[];

/* One that ends on TERM with status 3, and says "got TERM". */
extern const char scene_polite[];

/* `redlock run ... -- sh -c SCRIPT`, until all it starts is known. */
void scene_begin(struct scene *scene, const char *ttl, const char *grace, const char *script,
                 int pid_count);

bool scene_all_gone(const struct scene *scene);

/* When, as boot_ms(), the validity of the lease that was last granted ends, to within a round
 * trip. It ends when the keys that a majority granted with it do, less the drift. All masters
 * must run. Where an extension was under way it may be that one's end. */
int64_t scene_validity_end_ms(int64_t ttl_ms);

void scene_expect_gone_by(const struct scene *scene, int64_t end_ms);

/* The lock can be had by another, within a lease. */
void scene_expect_free_soon(void);

/* The number after the first `word` in *at, which is moved behind it; 0: there is none. */
pid_t scene_number(const char **at, const char *word);

#endif
