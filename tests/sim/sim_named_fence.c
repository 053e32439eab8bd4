/* sim_named_fence.c - scenarios of fencing tokens. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0

/* A message takes 1 ms each way, and a command 10 us. */
enum { ROUND_TRIP_US = 2050 };

static struct sim_player *fenced(const char *name)
{
    struct sim_player *player = sim_is_there(name, NULL);
    player->options.fenced = 1;
    return player;
}

/* Three masters, no two of which show the same time. */
static void stage(void)
{
    sim_stage(3);
    for (unsigned i = 0; i < 3; i++)
        sim_master_step_clock(i, (int64_t)i * SIM_MS);
}

/* All masters take its proposals for too old, and each names its own time. */
static struct sim_player *late(const char *name)
{
    struct sim_player *player = fenced(name);
    player->proc->wall_extra_ns = -3600 * SIM_S;
    return player;
}

static uint64_t takes(struct sim_player *player)
{
    sim_expect(sim_takes(player, 1000, ONCE) == REDLOCK_OK);
    return redlock_fencing_token(player->lock);
}

static void fencing_tokens(void)
{
    stage();
    struct sim_player *ann = fenced("ann"), *bob = fenced("bob");
    takes(ann); /* so that scripts are known */
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(5);
    sim_curtain();
    int64_t began_ns = sim_now_ns();
    uint64_t first = takes(ann);
    sim_expect(ann->done_ns - began_ns < ROUND_TRIP_US * SIM_US);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    uint64_t second = takes(bob);
    sim_expect(second > first && sim_taken_by("set") == 0);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

static void fencing_token_is_told(void)
{
    stage();
    struct sim_player *ann = late("ann"), *bob = fenced("bob");
    sim_curtain();
    int64_t began_ns = sim_now_ns();
    uint64_t first = takes(ann);
    sim_expect(ann->done_ns - began_ns > ROUND_TRIP_US * SIM_US);
    sim_expect(ann->done_ns - began_ns < 2 * ROUND_TRIP_US * SIM_US);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(takes(bob) > first);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* The master that is behind dies of being told. */
static void fencing_token_is_told_in_vain(void)
{
    stage();
    struct sim_player *ann = late("ann");
    for (unsigned i = 0; i < 3; i++)
        sim_master_kill_at(i, "extend", false);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_ENOQUORUM);
    sim_expect(sim_master_up(0) + sim_master_up(1) + sim_master_up(2) == 2);
    sim_pass_ms(10);
    sim_expect(sim_keys() == 0);
}

/* Masters give a number ahead of their clocks only as far as the guard's window makes up for. */
static void fencing_token_of_clock_ahead(void)
{
    stage();
    struct sim_player *ann = fenced("ann"), *bob = fenced("bob");
    ann->proc->wall_extra_ns = 3600 * SIM_S;
    sim_curtain();
    uint64_t first = takes(ann);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    for (unsigned i = 0; i < 3; i++) {
        sim_master_kill(i);
        sim_master_start(i, SIM_EMPTY);
    }
    sim_expect(sim_takes(bob, 1000, 20000) == REDLOCK_OK);
    sim_expect(redlock_fencing_token(bob->lock) > first);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* For her own client she still has the lock that is over. */
static void fencing_token_after_clock_went_back(void)
{
    stage();
    struct sim_player *ann = fenced("ann"), *again = sim_beside(ann), *bob = fenced("bob");
    ann->options.kind = REDLOCK_REENTRANT;
    ann->options.owner = "ann";
    again->options = ann->options;
    bob->options.kind = REDLOCK_REENTRANT;
    sim_curtain();
    takes(ann);
    sim_proc_set_clock(ann->proc, CLOCK_BOOTTIME, -3600 * SIM_S);
    sim_pass_ms(1100);
    uint64_t second = takes(bob);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect(takes(again) > second);
    sim_expect(sim_releases(again) == REDLOCK_OK);
}

/* ---- fencing strict ---------------------------------------------------------------------- */

static const struct sim_client_options strict = {.fencing = REDLOCK_FENCING_STRICT};

static void strict_stage_of(unsigned masters)
{
    sim_stage(masters);
    for (unsigned i = 0; i < masters; i++)
        sim_master_certify(i, 0);
}

static void strict_stage(void)
{
    strict_stage_of(3);
}

static struct sim_player *strictly_fenced(const char *name)
{
    struct sim_player *player = sim_is_there(name, &strict);
    player->options.fenced = 1;
    return player;
}

/* ann's token is n2's time, which is ahead; n3 was told it, and forgets it. n1 never had it, and
 * is all that bob can read. */
static void certified_by_two_others(void)
{
    strict_stage();
    sim_master_step_clock(1, 200 * SIM_MS);
    struct sim_player *ann = strictly_fenced("ann"), *bob = strictly_fenced("bob");
    sim_delay_ms(ann, 0, 20000, 1);
    sim_delay_ms(bob, 1, 20000, 1);
    sim_curtain();
    uint64_t first = takes(ann);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_master_flushall(2);
    sim_crashes(ann); /* she would read n2 for n3 */
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_ENOQUORUM);
    sim_pass_ms(20);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_ENOQUORUM);
    sim_delay_ms(bob, 1, 1, 1);
    sim_expect(sim_takes(bob, 1000, 5000) == REDLOCK_OK);
    sim_expect(redlock_fencing_token(bob->lock) > first);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* A master forgets its tokens while cat, who wants none, has the lock: bob, who waits, has it
 * certified, and names none himself. */
static void forgets_beside(unsigned master, struct sim_player *cat, struct sim_player *bob)
{
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_OK);
    sim_master_flushall(master);
    sim_expect(sim_takes(bob, 1000, 100) != REDLOCK_OK);
    sim_expect(sim_master_certified(master));
    sim_expect(sim_releases(cat) == REDLOCK_OK);
    sim_pass_ms(10);
}

/* n2's clock is an hour ahead, and so is ann's token. In the end bob has n1 and n3, which have
 * only been told of it. */
static void certified_one_after_the_other(void)
{
    strict_stage();
    sim_master_step_clock(1, 3600 * SIM_S);
    struct sim_player *ann = strictly_fenced("ann"), *bob = strictly_fenced("bob");
    struct sim_player *cat = sim_is_there("cat", NULL);
    sim_delay_ms(ann, 2, 20000, 1);
    sim_curtain();
    uint64_t first = takes(ann);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_crashes(ann);
    forgets_beside(2, cat, bob);
    forgets_beside(0, cat, bob);
    sim_path_hole(bob->proc, 1, SIM_THERE, true);
    sim_expect(sim_takes(bob, 1000, 1000) == REDLOCK_OK);
    sim_expect(redlock_fencing_token(bob->lock) > first);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* n3's number is ann's token, and is under way to her when n3 forgets it. n1 and n2 are read for
 * that before they know it. Then ann connects to n1 anew, and could tell it. */
static void round_is_older_than_a_loss(void)
{
    strict_stage();
    struct sim_player *ann = strictly_fenced("ann"), *bob = strictly_fenced("bob");
    sim_master_step_clock(2, 10 * SIM_S);
    sim_delay_ms(ann, 1, 20000, 1);
    sim_delay_ms(ann, 2, 1, 200);
    bob->names = "other";
    sim_curtain();
    sim_begins_to_take(ann, 1000, ONCE);
    sim_pass_ms(3);
    sim_master_flushall(2);
    sim_master_step_clock(2, -10 * SIM_S);
    for (unsigned i = 0; i < 2; i++) {
        sim_expect(sim_takes(bob, 1000, 100) == REDLOCK_OK);
        sim_expect(sim_releases(bob) == REDLOCK_OK);
    }
    sim_expect(sim_master_certified(2));
    sim_path_reset(ann->proc, 0);
    sim_expect(sim_finishes(ann) == REDLOCK_OK); /* by another round */
    uint64_t first = redlock_fencing_token(ann->lock);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    bob->names = NULL;
    sim_delay_ms(bob, 0, 20000, 1);
    sim_expect(takes(bob) > first);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* ann's token is n2's time, and n3 forgets it. n1 never had it, and is what both names lead bob
 * to. */
static void certified_by_one_under_two_names(void)
{
    strict_stage();
    sim_master_step_clock(1, 3600 * SIM_S);
    struct sim_player *ann = strictly_fenced("ann"), *bob = strictly_fenced("bob");
    sim_delay_ms(ann, 0, 20000, 1);
    sim_curtain();
    uint64_t first = takes(ann);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_crashes(ann);
    sim_broke(SIM_ONE_SERVER);
    sim_path_lead(bob->proc, 1, 0);
    sim_path_reset(bob->proc, 1);
    sim_master_flushall(2);
    sim_expect(sim_takes(bob, 1000, 200) == REDLOCK_ENOQUORUM);
    sim_expect(!sim_master_certified(2));
    sim_path_lead(bob->proc, 1, 1);
    sim_path_reset(bob->proc, 0); /* that is where both names have led */
    sim_expect(sim_takes(bob, 1000, 4000) == REDLOCK_OK);
    sim_expect(sim_master_certified(2));
    sim_expect(redlock_fencing_token(bob->lock) > first);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* One who is connected to all, and has no answers of n5 and this one any more. */
static struct sim_player *reader(const char *name, unsigned not)
{
    struct sim_player *player = strictly_fenced(name);
    player->names = name;
    sim_delay_ms(player, not, 20000, 1);
    sim_delay_ms(player, 4, 20000, 1);
    return player;
}

/* The play begins. ann's token, which n3 and n4 do not have, and she is gone. */
static uint64_t token_of_three(struct sim_player *ann)
{
    sim_delay_ms(ann, 2, 20000, 1);
    sim_delay_ms(ann, 3, 20000, 1);
    sim_curtain();
    uint64_t token = takes(ann);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_crashes(ann);
    return token;
}

/* ann's token is n5's time, which is ahead; n1 and n2 forget it. bob and dan read the others for
 * n1's loss, and cat between them for n2's: n3 and n4 get another id each time. */
static void certified_by_a_minority_that_is_read_again(void)
{
    strict_stage_of(5);
    sim_master_step_clock(4, 3600 * SIM_S);
    struct sim_player *ann = strictly_fenced("ann");
    struct sim_player *bob = reader("bob", 1), *cat = reader("cat", 0), *dan = reader("dan", 1);
    uint64_t first = token_of_three(ann);
    sim_master_flushall(0);
    sim_master_flushall(1);
    sim_takes(bob, 500, ONCE);
    sim_takes(cat, 500, ONCE);
    sim_takes(dan, 500, ONCE);
    sim_takes(bob, 500, ONCE);
    sim_expect(!sim_master_certified(0) && !sim_master_certified(1));
    sim_delay_ms(bob, 1, 1, 1);
    sim_delay_ms(bob, 4, 1, 1);
    bob->names = NULL;
    sim_expect(sim_takes(bob, 1000, 8000) == REDLOCK_OK);
    sim_expect(redlock_fencing_token(bob->lock) > first);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* ann's token is n5's time, which was an hour ahead, and is set right before n1 and n2 forget the
 * token: no clock shows that hour any more. In the end bob has n1 to n4, and none of these had it
 * but those that forgot it. */
static void certified_after_a_clock_was_set_right(void)
{
    strict_stage_of(5);
    sim_master_step_clock(4, 3600 * SIM_S);
    struct sim_player *ann = strictly_fenced("ann"), *bob = strictly_fenced("bob");
    struct sim_player *cat = sim_is_there("cat", NULL);
    uint64_t first = token_of_three(ann);
    sim_master_step_clock(4, -3600 * SIM_S);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_OK);
    sim_master_flushall(0);
    sim_master_flushall(1);
    for (unsigned tries = 0; tries < 8 && !sim_master_certified(1); tries++)
        sim_expect(sim_takes(bob, 1000, 100) != REDLOCK_OK);
    sim_expect(sim_master_certified(0) && sim_master_certified(1));
    sim_expect(sim_releases(cat) == REDLOCK_OK);
    sim_pass_ms(10);
    sim_path_hole(bob->proc, 4, SIM_THERE, true);
    sim_expect(sim_takes(bob, 1000, 1000) == REDLOCK_OK);
    sim_expect(redlock_fencing_token(bob->lock) > first);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

const struct sim_scenario sim_named_fence[] = {
    {"fencing-tokens",
     "Each hold gets a greater fencing token, with the round trip that takes the lock.",
     fencing_tokens},
    {"fencing-token-is-told",
     "Ann's clock is an hour behind, so each master names another number. The one that is\n"
     "behind is told the greatest before ann has the lock.",
     fencing_token_is_told},
    {"fencing-token-is-told-in-vain",
     "The master that must be told dies of it: ann does not get the lock.",
     fencing_token_is_told_in_vain},
    {"fencing-token-of-clock-ahead",
     "Ann's clock is an hour ahead, and all masters lose their counters: bob's token is above\n"
     "hers, since no number was further ahead than the guard's window makes up for.",
     fencing_token_of_clock_ahead},
    {"fencing-token-after-clock-went-back",
     "Ann's clock is set back, so her lock is over; bob has it, and then she has it again. Her\n"
     "token is above bob's, and not that of the lock which is over.",
     fencing_token_after_clock_went_back},
    {"certified-by-two-others",
     "With fencing strict n3 forgets ann's token, and bob can read n1 alone: n3 names no token\n"
     "before he has read n2 as well.",
     certified_by_two_others},
    {"certified-one-after-the-other",
     "With fencing strict n3 forgets ann's token and is certified, and so does n1 then. Both were\n"
     "told of it by those that had it, so bob's token, by n1 and n3, is above.",
     certified_one_after_the_other},
    {"round-is-older-than-a-loss",
     "With fencing strict n3 forgets the number that ann's round has from it, and is certified.\n"
     "That round tells the number to nobody any more, although ann knows the new certificate.",
     round_is_older_than_a_loss},
    {"certified-by-one-under-two-names",
     "With fencing strict n3 forgets ann's token, and both n1 and n2 lead bob to n1's server. That\n"
     "is one to read, and not two: n3 is certified when n2 is a server of its own again.",
     certified_by_one_under_two_names},
    {"certified-by-a-minority-that-is-read-again",
     "With fencing strict n1 and n2 forget ann's token, and of the others n5 alone has it. bob reads\n"
     "n3 and n4 for n1, cat for n2, dan for n1, and bob sees them again. They are two, and not four.",
     certified_by_a_minority_that_is_read_again},
    {"certified-after-a-clock-was-set-right",
     "With fencing strict ann's token is n5's time, an hour ahead. That clock is set right, and n1\n"
     "and n2 forget the token. n5 tells what it has named, so bob's, by n1 to n4, is above.",
     certified_after_a_clock_was_set_right},
    {NULL, NULL, NULL},
};
