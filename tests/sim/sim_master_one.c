/* sim_master_one.c - see sim_master_one.h. */
#include "config_auto.h"

#include "sim_master_one.h"

struct sim_conn *conn;

void one_begin(void)
{
    rig_begin(1, 3, NULL);
    conn = dial(0);
    teach_scripts(conn);
}

void one_end(void)
{
    hang_up(conn);
    rig_end();
}

const char *acquire(const char *name, const char *token, const char *ttl)
{
    return ask_script(conn, "acquire", name, NONCE, token, ttl, NULL);
}
