/* sim_named_durable.c - scenarios of masters that write all to their disks before they answer:
 * such a master votes at once after a restart, and has its keys. All others wait. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0

static const struct sim_client_options durable = {
    .max_ttl_ms = 2000, .guard = REDLOCK_GUARD_MARKER, .durable = REDLOCK_ON};
static const struct sim_client_options marked = {.max_ttl_ms = 2000,
                                                 .guard = REDLOCK_GUARD_MARKER};
static const struct sim_disk always = {.appendonly = true};
static const struct sim_disk everysec = {.appendonly = true, .everysec = true};
static const struct sim_disk no_file = {.appendonly = false};

/* Three such masters. ann will have n1 and n2 alone, since n3 is far from her. */
static struct sim_player *ann_and_durable_masters(void)
{
    sim_stage(3);
    for (unsigned i = 0; i < 3; i++) {
        sim_master_disk(i, &always);
        sim_master_mark(i);
    }
    struct sim_player *ann = sim_is_there("ann", &durable);
    sim_delay_ms(ann, 2, 20000, 1);
    return ann;
}

static void takes_it(struct sim_player *player)
{
    sim_watches(player, false);
    sim_expect(sim_takes(player, 2000, ONCE) == REDLOCK_OK);
}

static struct sim_player *ann_has_it_on_durable_masters(void)
{
    struct sim_player *ann = ann_and_durable_masters();
    sim_curtain();
    takes_it(ann);
    sim_pass_ms(100);
    return ann;
}

static void restarts(unsigned master, enum sim_restart how)
{
    sim_expect(how != SIM_WHOLE || sim_master_keeps_all(master));
    sim_master_kill(master);
    sim_pass_ms(10);
    sim_master_start(master, how);
}

/* ---- at once ---------------------------------------------------------------------------- */

static void durable_masters_restart(void)
{
    struct sim_player *ann = ann_has_it_on_durable_masters();
    restarts(0, SIM_WHOLE);
    restarts(1, SIM_WHOLE);
    struct sim_player *bob = sim_enters("bob", &durable);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    sim_pass_ms(100);
    sim_expect(sim_keys_of(ann) == 2);
    sim_expect(sim_extends(ann, 2000) == REDLOCK_OK);
    sim_expect(ann->told_lost == 0);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(10);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_keys_of(bob) == 3); /* nobody waits for max-ttl */
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* It has been asked, and has a stamp. */
static void durable_masters_restart_again(void)
{
    struct sim_player *ann = ann_has_it_on_durable_masters();
    for (int i = 0; i < 3; i++) {
        restarts(1, SIM_WHOLE);
        sim_pass_ms(300);
        sim_expect(sim_extends(ann, 2000) == REDLOCK_OK);
        sim_expect(sim_keys_of(ann) == 2);
    }
    sim_expect(ann->told_lost == 0);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* Its marker can't be read meanwhile, and it alone says that nothing was lost. */
static void durable_master_loads(void)
{
    struct sim_player *ann = ann_has_it_on_durable_masters();
    restarts(1, SIM_WHOLE);
    sim_master_trouble(1, SIM_LOADING, 1000000);
    sim_pass_ms(300);
    sim_master_trouble(1, SIM_NO_TROUBLE, 0);
    uint64_t looks = sim_master_felt(1)->looks;
    sim_pass_ms(120);
    sim_expect(sim_master_felt(1)->looks == looks + 1); /* it is asked as soon as it has */
    sim_expect(sim_extends(ann, 2000) == REDLOCK_OK);
    sim_expect(ann->told_lost == 0);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* ---- that wait -------------------------------------------------------------------------- */

/* The lock stood on n2, which has forgotten it. cat must not get it before it is over. */
static void cat_waits(struct sim_player *holder)
{
    struct sim_player *cat = sim_enters("cat", &durable);
    sim_expect(sim_takes(cat, 1000, ONCE) != REDLOCK_OK);
    sim_pass_ms(1500);
    sim_expect(sim_takes(cat, 1000, ONCE) != REDLOCK_OK);
    sim_pass_ms(500);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_OK); /* by n1 and n3 */
    sim_expect(sim_asks_validity(holder) == 0);
    sim_expect(holder->told_lost == 1);
    sim_expect_costs(SIM_OVERLAP, false);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
}

/* A look has found it, and the stamp's end has reached the disk, when ann takes the lock. */
static void durable_no_more(void)
{
    struct sim_player *ann = ann_has_it_on_durable_masters();
    sim_master_config(1, &everysec);
    sim_pass_ms(1050);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(1500);
    takes_it(ann);
    sim_pass_ms(100);
    sim_expect(!sim_master_vouched(1));
    restarts(1, SIM_LATE);
    cat_waits(ann);
}

/* dan has made n2 his own marker, and was gone before he asked it for its disk. bob asks for no
 * disk at all. The stamp that stands is of the process before. */
static void durable_stamp_of_the_one_before(void)
{
    struct sim_player *ann = ann_and_durable_masters();
    sim_curtain();
    sim_goes(ann);
    sim_master_kill(1);
    sim_master_disk(1, &everysec);
    sim_master_start(1, SIM_WHOLE);
    struct sim_player *dan = sim_enters("dan", &durable);
    sim_begins_to_take(dan, 1000, ONCE);
    sim_pass_us(3500);
    sim_crashes(dan);
    sim_pass_ms(1100);
    struct sim_player *bob = sim_is_there("bob", &marked);
    sim_delay_ms(bob, 2, 20000, 1);
    takes_it(bob);
    sim_pass_ms(100);
    sim_expect(sim_keys_of(bob) == 2);
    restarts(1, SIM_LATE);
    cat_waits(bob);
}

/* Until it is over nobody knows what a start would read. Its keys are there all the same. */
static void durable_master_rewrites(void)
{
    struct sim_player *ann = ann_has_it_on_durable_masters();
    sim_master_rewrite(1, true);
    sim_pass_ms(1050);
    sim_expect(sim_extends(ann, 2000) == REDLOCK_OK);
    restarts(1, SIM_WHOLE);
    sim_pass_ms(100);
    sim_expect(sim_keys_of(ann) == 2);
    sim_expect(ann->told_lost == 1);
    struct sim_player *cat = sim_enters("cat", &durable);
    sim_expect(sim_takes(cat, 1000, ONCE) != REDLOCK_OK);
}

/* n2 reads an older dump, which has the stamp, too. */
static void reads_a_dump(bool switched_on)
{
    struct sim_player *ann = ann_and_durable_masters();
    sim_pass_ms(1100);
    sim_curtain();
    takes_it(ann);
    sim_pass_ms(100);
    sim_master_kill(1);
    sim_master_disk(1, &no_file);
    sim_master_start(1, SIM_LATE);
    if (switched_on)
        sim_master_config(1, &always);
    cat_waits(ann);
}

static void durable_process_read_a_dump(void)
{
    reads_a_dump(false);
}

static void durable_file_switched_on_later(void)
{
    reads_a_dump(true);
}

/* n4 is as durable, and was restarted, but none of its processes has ann's key. */
static void durable_server_of_another_list(void)
{
    sim_stage_with_spare(3);
    for (unsigned i = 0; i < 4; i++) {
        sim_master_disk(i, &always);
        sim_master_mark(i);
    }
    struct sim_player *ann = sim_is_there("ann", &durable);
    sim_delay_ms(ann, 2, 20000, 1);
    struct sim_player *bob = sim_enters("bob", &durable);
    sim_path_lead(bob->proc, 1, 3);
    sim_path_reset(bob->proc, 1);
    bob->names = "other";
    sim_expect(sim_takes(bob, 1000, 500) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_curtain();
    takes_it(ann);
    restarts(3, SIM_WHOLE);
    sim_expect(sim_takes(bob, 1000, 50) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_path_lead(ann->proc, 1, 3);
    sim_path_reset(ann->proc, 1);
    sim_pass_ms(100);
    sim_expect(ann->told_lost == 1);
    sim_expect(sim_asks_validity(ann) == 0);
}

/* bob has not the setting, and comes first: he makes n2 wait for all. */
static void durable_met_without_the_setting(void)
{
    struct sim_player *ann = ann_has_it_on_durable_masters();
    sim_delay_ms(ann, 1, 50, 50);
    restarts(1, SIM_WHOLE);
    struct sim_player *bob = sim_enters("bob", &marked);
    sim_expect(sim_takes(bob, 1000, ONCE) != REDLOCK_OK);
    sim_pass_ms(300);
    sim_expect(ann->told_lost == 1);
    sim_expect(sim_keys_of(ann) == 2);
}

/* ---- what it costs ---------------------------------------------------------------------- */

static void cat_has_it_as_well(struct sim_player *ann)
{
    struct sim_player *cat = sim_enters("cat", &durable);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect_costs(SIM_OVERLAP, true);
}

static void durable_no_more_and_nobody_has_looked(void)
{
    struct sim_player *ann = ann_and_durable_masters();
    sim_pass_ms(900);
    sim_curtain();
    sim_master_config(1, &everysec);
    sim_expect(sim_takes(ann, 2000, ONCE) == REDLOCK_OK);
    sim_pass_ms(200);
    sim_expect(sim_master_vouched(1));
    sim_broke(SIM_SYNCED);
    restarts(1, SIM_LATE);
    cat_has_it_as_well(ann);
}

/* The stamp's end can't be written to a file that is off. */
static void durable_file_switched_off(void)
{
    struct sim_player *ann = ann_has_it_on_durable_masters();
    sim_master_config(1, &no_file);
    sim_pass_ms(1050);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(1500);
    takes_it(ann);
    sim_expect(sim_master_vouched(1));
    sim_broke(SIM_SYNCED);
    restarts(1, SIM_LATE);
    cat_has_it_as_well(ann);
}

const struct sim_scenario sim_named_durable[] = {
    {"durable-masters-restart",
     "CE2. n1 and n2 write all to their disks first, and are restarted: both vote at once, and "
     "have their\nkeys. ann keeps her lock, and bob gets it as soon as she gives it up.",
     durable_masters_restart},
    {"durable-masters-restart-again",
     "Each process of n2 is asked for its disk, and stamped: ann keeps her lock.",
     durable_masters_restart_again},
    {"durable-master-loads",
     "n2 is restarted and reads its keys for a while. Its marker can't be read before it has "
     "done that,\nand ann keeps her lock.",
     durable_master_loads},
    {"durable-no-more",
     "CE3. n2's appendfsync becomes everysec, and a look withdraws its stamp. It is restarted "
     "without its\nlast second and does not vote until ann's lock is over.",
     durable_no_more},
    {"durable-stamp-of-the-one-before",
     "CE3. n2's second process is stamped by nobody, and writes less to its disk. The third "
     "one finds the\nfirst one's stamp, and does not vote.",
     durable_stamp_of_the_one_before},
    {"durable-master-rewrites",
     "A look finds that n2 rewrites its file, and withdraws its stamp. n2 is restarted, and "
     "waits.",
     durable_master_rewrites},
    {"durable-process-read-a-dump",
     "CE3. n2 is restarted without an append-only file, and reads an older dump: the stamp is "
     "in that,\ntoo, and it does not vote.",
     durable_process_read_a_dump},
    {"durable-file-switched-on-later",
     "CE3. The same, and the file is switched on before anybody looks. It is written from what "
     "was read.",
     durable_file_switched_on_later},
    {"durable-server-of-another-list",
     "CE4. n2's name leads to n4, which has all keys of its own process before, and was never "
     "n2. What n2\ngranted is void.",
     durable_server_of_another_list},
    {"durable-met-without-the-setting",
     "n2 is restarted, and bob comes first, who has `durable off`: n2 is quarantined for all, "
     "and ann's\nlock is lost.",
     durable_met_without_the_setting},
    {"durable-no-more-and-nobody-has-looked",
     "CE3. n2's appendfsync becomes everysec, and the power fails before the next look. The "
     "stamp vouches\nfor a lock that was lost, and cat has it as well. That is a cost.",
     durable_no_more_and_nobody_has_looked},
    {"durable-file-switched-off",
     "CE3. n2's append-only file is switched off, and a look withdraws its stamp, but not from "
     "that file.\nThe next process reads it, and cat has the lock as well. That is a cost.",
     durable_file_switched_off},
    {0},
};
