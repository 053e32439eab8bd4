/* sim_certify.h - the certificates of model masters for fencing tokens, between the scripts
 * that read them. */
#ifndef SIM_CERTIFY_H
#define SIM_CERTIFY_H

#include "sim_script_parts.h"

struct sim_certificate {
    bool strict; /* the script is told of a certificate, and has this one */
    const struct sim_word *name;
    char word[16], id[33], base[20], greatest[20], run[64], replication[64];
};

struct sim_key;

/* False: there is none, or it is another program's. */
bool sim_certificate_in(const struct sim_key *key, struct sim_certificate *ret);
void sim_certificate_text(const struct sim_certificate *certificate, char ret_text[512]);

/* What stands before a script with fencing tokens. False: it has answered or failed. */
bool sim_certificate_read(struct sim_run *run, struct sim_certificate *ret);

/* No token is above its greatest. False as above. */
bool sim_certificate_raise(struct sim_run *run, struct sim_certificate *certificate,
                           double token);

#endif
