/* sim_master_one.h - what most tests of model masters begin with: three of them, and a client
 * of the first that knows the scripts. */
#ifndef SIM_MASTER_ONE_H
#define SIM_MASTER_ONE_H

#include "sim_master_rig.h"

#define NONCE "0123456789abcdef"
#define YES "$16\r\n" NONCE "\r\n"
#define ECHO_ONE "$2\r\nne\r\n" /* of a release of "one" */
#define NO "*2\r\n$17\r\n" NONCE "-\r\n:0\r\n"

extern struct sim_conn *conn;
void one_begin(void);
void one_end(void);
const char *acquire(const char *name, const char *token, const char *ttl);

#endif
