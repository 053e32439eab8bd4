/* sim_disk.c - what model masters write to their disks before they answer: which settings they
 * have, and what that means for a restart. */
#include "config_auto.h"

#include "sim_disk.h"

#include <fnmatch.h>
#include <stdio.h>

void sim_disk_begin(struct sim_server *server)
{
    server->disk = server->disk_file;
    server->rewriting = server->rewritten = false;
    server->file_off_ns = 0;
}

static bool keeps_all(const struct sim_server *server)
{
    const struct sim_disk *disk = &server->disk;
    return disk->appendonly && !disk->everysec && !(disk->unsynced && server->rewriting);
}

void sim_disk_end(struct sim_server *server)
{
    server->ended_ns = sim_now_ns();
    server->former_ns = server->killed_ns;
    if (!keeps_all(server))
        server->killed_ns = server->ended_ns;
}

/* Nobody has to wait for a process that has all keys by its file. */
void sim_disk_follow(struct sim_server *server, enum sim_restart how)
{
    if (how != SIM_WHOLE)
        server->killed_ns = server->ended_ns;
    else if (server->disk_file.appendonly)
        server->killed_ns = server->former_ns;
    assert(server->ended_ns >= server->killed_ns);
    sim_disk_begin(server);
    server->begun_ns = sim_now_ns();
}

/* What the process has read is on the disk. */
static int64_t since_ns_of(const struct sim_server *server, int64_t end_ns)
{
    int64_t since_ns = end_ns - SIM_S;
    if (server->file_off_ns > 0 && server->file_off_ns < since_ns)
        since_ns = server->file_off_ns;
    return server->begun_ns > 0 && since_ns < server->begun_ns ? server->begun_ns : since_ns;
}

int64_t sim_disk_since_ns(const struct sim_server *server)
{
    return since_ns_of(server, server->ended_ns);
}

int64_t sim_disk_kept_ns(const struct sim_server *server)
{
    return since_ns_of(server, sim_now_ns());
}

void sim_disk_info(const struct sim_server *server, char *ret_text, size_t size)
{
    ret_text[0] = '\0';
    if (server->disk.appendonly || server->disk_file.appendonly) /* of others nobody asks */
        snprintf(ret_text, size,
                 "aof_enabled:%d\r\naof_rewrite_in_progress:%d\r\naof_rewrite_scheduled:0\r\n"
                 "aof_last_rewrite_time_sec:%d\r\naof_last_bgrewrite_status:ok\r\n",
                 server->disk.appendonly, server->rewriting, server->rewritten ? 0 : -1);
}

/* ---- what the world does ---------------------------------------------------------------- */

void sim_master_disk(unsigned master, const struct sim_disk *disk)
{
    struct sim_server *server = sim_server(master);
    assert(disk->appendonly || !disk->unsynced);
    server->disk_file = *disk;
    sim_disk_begin(server);
    sim_tell("n%u has %s append-only file%s%s", master + 1, disk->appendonly ? "an" : "no",
             disk->everysec ? ", synced every second" : "",
             disk->unsynced ? ", unsynced while it is rewritten" : "");
}

static void set_disk(struct sim_server *server, const struct sim_disk *disk)
{
    if (server->disk.appendonly && !disk->appendonly)
        server->file_off_ns = sim_now_ns();
    if (!server->disk.appendonly && disk->appendonly) {
        server->file_off_ns = 0;
        server->rewritten = true;
    }
    server->disk = *disk;
}

void sim_master_config(unsigned master, const struct sim_disk *disk)
{
    struct sim_server *server = sim_server(master);
    if (!server->up || memcmp(&server->disk, disk, sizeof(*disk)) == 0)
        return;
    sim_tell("n%u is told: appendonly %s, appendfsync %s", master + 1,
             disk->appendonly ? "yes" : "no", disk->everysec ? "everysec" : "always");
    set_disk(server, disk);
}

bool sim_master_file_is_old(unsigned master)
{
    return sim_server(master)->file_off_ns > 0 && sim_server(master)->disk_file.appendonly;
}

const struct sim_disk *sim_master_disk_now(unsigned master)
{
    return &sim_server(master)->disk;
}

const struct sim_disk *sim_master_disk_file(unsigned master)
{
    return &sim_server(master)->disk_file;
}

void sim_master_rewrite(unsigned master, bool goes_on)
{
    struct sim_server *server = sim_server(master);
    if (!server->up || server->rewriting == goes_on)
        return;
    sim_tell("n%u %s its append-only file", master + 1, goes_on ? "rewrites" : "has rewritten");
    server->rewriting = goes_on;
    server->rewritten |= !goes_on;
}

bool sim_master_keeps_all(unsigned master)
{
    return keeps_all(sim_server(master));
}

/* ---- whether somebody has looked -------------------------------------------------------- */

void sim_disk_vouch(struct sim_server *server)
{
    if (server->vouched_ns <= server->doubted_ns)
        server->vouched_ns = sim_now_ns();
}

void sim_disk_doubt(struct sim_server *server)
{
    if (server->doubted_ns < server->vouched_ns)
        server->doubted_ns = sim_now_ns();
}

bool sim_master_vouched(unsigned master)
{
    const struct sim_server *server = sim_server(master);
    int64_t since_ns = server->up ? sim_disk_kept_ns(server) : sim_disk_since_ns(server);
    if (server->vouched_ns == 0 || !server->disk_file.appendonly)
        return false;
    return since_ns < server->doubted_ns ||
           (server->vouched_ns > server->doubted_ns && since_ns >= server->vouched_ns);
}

/* ---- CONFIG ----------------------------------------------------------------------------- */

enum setting { APPENDONLY, APPENDFSYNC, UNSYNCED, SETTINGS };

static const char *const names[SETTINGS] = {"appendonly", "appendfsync",
                                            "no-appendfsync-on-rewrite"};

static const char *value_of(const struct sim_disk *disk, enum setting setting)
{
    if (setting == APPENDFSYNC)
        return disk->everysec ? "everysec" : "always";
    return (setting == APPENDONLY ? disk->appendonly : disk->unsynced) ? "yes" : "no";
}

static bool is_asked(const struct sim_call *call, enum setting setting)
{
    for (unsigned i = 2; i < call->words; i++) {
        if (fnmatch(call->word[i].bytes, names[setting], 0) == 0)
            return true;
    }
    return false;
}

static void run_get(struct sim_call *call)
{
    size_t count = 0;
    const struct sim_disk *disk = &call->server->disk;
    call->session->heard_durable = !disk->everysec && !disk->unsynced;
    for (int i = 0; i < SETTINGS; i++)
        count += is_asked(call, (enum setting)i);
    sim_put_array(call->out, 2 * count);
    for (int i = 0; i < SETTINGS; i++) {
        const char *value = value_of(disk, (enum setting)i);
        if (!is_asked(call, (enum setting)i))
            continue;
        sim_put_bulk(call->out, names[i], strlen(names[i]));
        sim_put_bulk(call->out, value, strlen(value));
    }
}

/* False: there is no such value. */
static bool take(struct sim_disk *disk, enum setting setting, const struct sim_word *value)
{
    const char *yes = setting == APPENDFSYNC ? "everysec" : "yes";
    const char *no = setting == APPENDFSYNC ? "always" : "no";
    bool *at = setting == APPENDONLY    ? &disk->appendonly
               : setting == APPENDFSYNC ? &disk->everysec
                                        : &disk->unsynced;
    *at = sim_word_is(value, yes);
    return *at || sim_word_is(value, no);
}

static void run_set(struct sim_call *call)
{
    char text[192];
    struct sim_disk disk = call->server->disk;
    for (int i = 0; i < SETTINGS; i++) {
        if (!sim_word_is(&call->word[2], names[i]))
            continue;
        if (take(&disk, (enum setting)i, &call->word[3])) {
            set_disk(call->server, &disk);
            sim_put_ok(call->out);
            return;
        }
        snprintf(text, sizeof(text),
                 "ERR CONFIG SET failed (possibly related to argument '%s') - argument%s",
                 names[i],
                 i == APPENDFSYNC ? "(s) must be one of the following: everysec, always, no"
                                  : " must be 'yes' or 'no'");
        sim_put_error(call->out, text);
        return;
    }
    snprintf(text, sizeof(text),
             "ERR Unknown option or number of arguments for CONFIG SET - '%.100s'",
             call->word[2].bytes);
    sim_put_error(call->out, text);
}

enum { ANY_TIME = SIM_STALE | SIM_WHILE_LOADING };

const struct sim_command sim_commands_config[] = {
    {"config", -2, 0, NULL}, /* without a subcommand only */
    {"config|get", -3, ANY_TIME, run_get},
    {"config|set", 4, ANY_TIME, run_set},
    {NULL, 0, 0, NULL},
};
