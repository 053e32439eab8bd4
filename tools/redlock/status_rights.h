/* status_rights.h - has the user of the node list the rights that each use of locks needs? A
 * script asks the master, which tells what it would allow, and does none of it (Redis 7.0). */
#ifndef REDLOCK_STATUS_RIGHTS_H
#define REDLOCK_STATUS_RIGHTS_H

#include "redlock/rights.h"

#include "net/resp.h"

struct cli;
struct rl_config;
struct status_check;

struct status_rights {
    bool known;               /* `may` is told; else `why` says why not */
    bool denied;              /* scripts are */
    char may[RIGHTS_MAX + 1]; /* '1', '0', 'n' (no, by a command with a channel) or '?' for each
                               * right of the table */
    char why[192];            /* printable */
};

/* The largest request that is asked; a longer one is not sent. */
#define STATUS_RIGHTS_REQUEST_MAX 32768

void status_rights_use(const struct cli *cli, const struct rl_config *config,
                       struct rights_use *ret_use);

/* Can these uses be had on so many masters? False: a line says why not. */
bool status_rights_possible(const struct cli *cli, unsigned masters);

/* The request, for names that begin with `prefix` (NULL: for those of probes). False: it has no
 * room. */
bool status_rights_request(const char *prefix, char ret_request[STATUS_RIGHTS_REQUEST_MAX]);

/* Its answer, and an error in its place. */
void status_rights_heard(struct status_rights *rights, const char *answer, size_t len);
void status_rights_refused(struct status_rights *rights, const char *why);

/* Is it known that the user lacks "+client|setname"? */
bool status_rights_lack(const struct status_rights *rights, const char *right);

/* FAIL where locks that are used can't be had, WARN where others can't, else as it is. `named`:
 * the user has said which are. `takes`: a lock was taken at this master. */
void status_rights_check(const struct status_rights *rights, const struct rights_use *use,
                         bool named, bool takes, struct status_check *ret_check);

/* ,"rights":{"plain":["+del"],...}: what is missing for each use. */
void status_rights_json(const struct status_rights *rights, const struct rights_use *use);

#endif
