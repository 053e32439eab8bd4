/* account.c - see account.h: what happened to a lease, and what that means. */
#include "config_auto.h"

#include "engine/lease/lease.h"

#include "base/text_escape.h"

#include <assert.h>
#include <string.h>

void rl_account_begin(struct rl_lease *lease, bool confirmed, int64_t now_ns)
{
    struct rl_account *account = &lease->account;
    const struct rl_loop *loop = &lease->client->loop;
    assert(lease->hold.phase == RL_HOLD_HELD && account->lost_ns == 0);
    account->before_ns = account->held_ns > 0 ? loop->absent_ns - account->absent_ns : 0;
    if (account->held_ns == 0)
        account->held_ns = now_ns;
    account->deadline_ns = lease->hold.deadline_ns;
    account->absent_ns = loop->absent_ns;
    account->suspended_ns = loop->suspended_ns;
    account->failed = false;
    account->voided = account->broken = 0;
    if (!confirmed)
        return;
    account->confirmed_ns = now_ns;
    account->confirmed_by = lease->hold.granted;
}

void rl_account_asks(struct rl_lease *lease)
{
    if (!lease->account.failed)
        lease->account.confirmed_by |= lease->hold.granted;
}

static void note_round(struct rl_lease *lease)
{
    struct rl_account *account = &lease->account;
    account->failed = true;
    account->yes = lease->hold.extend.yes;
    account->no = lease->hold.extend.no;
    account->missing = lease->hold.extend.failed;
}

void rl_account_answer(struct rl_lease *lease, unsigned node, bool has_it)
{
    struct rl_account *account = &lease->account;
    if (!account->failed)
        return;
    *(has_it ? &account->yes : &account->no) |= rl_bit(node);
    *(has_it ? &account->no : &account->yes) &= ~rl_bit(node);
}

/* What was broken before the last confirmation was another hold. */
void rl_account_broken(struct rl_lease *lease, unsigned node, int64_t ms, const char *who,
                       size_t len, int64_t now_ns)
{
    struct rl_account *account = &lease->account;
    int64_t since_ns = account->confirmed_ns > 0 ? account->confirmed_ns : account->held_ns;
    if (account->lost_ns > 0 || ms < 0 || ms > (now_ns - since_ns) / RL_NS_PER_MS)
        return;
    if (account->broken == 0) {
        char shown[2 * sizeof(account->broken_by)];
        memcpy(shown, who, len < sizeof(shown) ? len : sizeof(shown));
        len = rl_node_mask(lease->voters->node[node], shown,
                           len < sizeof(shown) ? len : sizeof(shown));
        rl_text_escape(account->broken_by, sizeof(account->broken_by), shown, len);
        account->broken_ns = now_ns - ms * RL_NS_PER_MS;
    }
    account->broken |= rl_bit(node);
}

void rl_account_note(struct rl_lease *lease, unsigned events, int64_t now_ns)
{
    if (events & (RL_EV_ACQUIRED | RL_EV_EXTENDED))
        rl_account_begin(lease, true, now_ns);
    if (events & RL_EV_NOT_EXTENDED)
        note_round(lease);
    if (events & RL_EV_LOST)
        rl_account_lost(lease, now_ns);
}

int64_t rl_account_absent_ns(const struct rl_lease *lease, int64_t now_ns)
{
    const redlock *client = lease->client;
    if (lease->account.lost_ns > 0)
        return lease->account.lost_absent_ns;
    return client->loop.absent_ns - lease->account.absent_ns +
           rl_driven_absent_ns(&client->loop.driven, now_ns);
}

/* A majority may have lost it, or says that it has, before its time was over. */
static enum redlock_loss taken(const struct rl_lease *lease)
{
    const struct rl_account *account = &lease->account;
    unsigned n = lease->hold.n, needed = rl_quorum_needed(n);
    if (account->failed && n - rl_count(account->no) < needed)
        return n - rl_count(account->broken) < needed ? REDLOCK_LOSS_BROKEN : REDLOCK_LOSS_GONE;
    return account->voided ? REDLOCK_LOSS_VOID : REDLOCK_LOSS_NONE;
}

enum redlock_loss rl_account_cause(const struct rl_lease *lease, int64_t now_ns)
{
    const struct rl_account *account = &lease->account;
    if (account->lost_ns > 0)
        return account->loss;
    const struct rl_renewal *renewal = &lease->renewal;
    int64_t end_ns = rl_watched_end_ns(account->deadline_ns, renewal->margin_ns, INT64_MAX);
    bool over = rl_validity_over(end_ns, now_ns);
    if (rl_lease_clock_went_back(lease))
        return REDLOCK_LOSS_CLOCK;
    if (!over && taken(lease) != REDLOCK_LOSS_NONE)
        return taken(lease);
    if (renewal->max_hold_end_ns > 0 && rl_validity_over(renewal->max_hold_end_ns, now_ns))
        return REDLOCK_LOSS_MAX_HOLD;
    int64_t since_ns = account->confirmed_ns > 0 ? account->confirmed_ns : account->held_ns;
    int64_t away_ns = rl_account_absent_ns(lease, now_ns);
    if (renewal->renews && 2 * away_ns > now_ns - since_ns) {
        int64_t suspended_ns = rl_clock_suspended_ns() - account->suspended_ns;
        return 2 * suspended_ns > away_ns ? REDLOCK_LOSS_SUSPENDED : REDLOCK_LOSS_STOPPED;
    }
    if (account->failed || (over && renewal->renews))
        return REDLOCK_LOSS_MASTERS;
    return over ? REDLOCK_LOSS_RAN_OUT : REDLOCK_LOSS_NONE;
}

void rl_account_lost(struct rl_lease *lease, int64_t now_ns)
{
    struct rl_account *account = &lease->account;
    if (account->held_ns == 0 || account->lost_ns > 0)
        return;
    rl_account_asks(lease);
    if (lease->hold.extend.t0_ns > account->confirmed_ns)
        note_round(lease);
    account->loss = rl_account_cause(lease, now_ns);
    account->lost_absent_ns = rl_account_absent_ns(lease, now_ns);
    account->lost_ns = now_ns;
}
