/* try.c - redlock_try*: checks the arguments, then makes an acquisition (acquire.h), and waits
 * for it or lets it call back. Of several names the engine sees one lock of a kind of its own,
 * whose name is all of the names. */
#include "config_auto.h"

#include "api/try.h"

#include "api/acquire.h"
#include "api/lock.h"
#include "base/struct_abi.h"
#include "engine/background.h"
#include "engine/cork.h"
#include "engine/loop/loop.h"
#include "kinds/key_rules.h"
#include "engine/client/owner.h"
#include "engine/enter.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The name, or several as one. */
static int check_names(redlock *client, const struct rl_names_arg *names_arg,
                       struct rl_target *ret_target)
{
    char why[RL_NAME_WHY_MAX];
    const redlock_bytes *name = names_arg->names;
    assert(ret_target->kind && (names_arg->packed || names_arg->count == 1));
    if (names_arg->packed) {
        ret_target->name = names_arg->packed;
        ret_target->name_len =
            rl_names_pack(name, names_arg->count, names_arg->packed, why, sizeof(why));
        return ret_target->name_len ? 0 : rl_client_wrong(client, why);
    }
    if (!rl_name_allowed(name->bytes, name->len, why, sizeof(why)))
        return rl_client_wrong(client, why);
    ret_target->name = name->bytes;
    ret_target->name_len = name->len;
    const char *clash = rl_key_format_clash(ret_target->kind, client->nodes.n, name->bytes,
                                            name->len);
    return clash ? rl_client_wrong(client, clash) : 0;
}

/* The reason why that owner can't have this lock; NULL: it can. */
static const char *clash(const struct rl_target *target, const char *owner)
{
    struct rl_target owned = *target;
    owned.owner = owner;
    owned.owner_len = strlen(owner);
    return rl_key_owner_clash(&owned);
}

/* Check all arguments; the log says what would be right. */
static int check(redlock *client, const struct rl_target *target,
                 const redlock_options *options, int64_t *ret_ttl_ms)
{
    const struct rl_kind *kind = target->kind;
    const char *sentence;
    if (options->auto_renew != 0 && options->auto_renew != 1)
        return rl_client_wrong(client, "auto_renew must be 0, or 1 for a lock that is renewed");
    if (options->max_hold_ms < 0 || (options->max_hold_ms > 0 && !options->auto_renew))
        return rl_client_wrong(
            client, "max_hold_ms must be 0 (no cap) or more, and goes with auto_renew");
    if (options->wait_ms < -1)
        return rl_client_wrong(client, "wait_ms must be -1 (for ever), 0 (once) or more");
    if (options->release != REDLOCK_RELEASE_CONFIRMED &&
        options->release != REDLOCK_RELEASE_LAZY)
        return rl_client_wrong(client, "release must be one of enum redlock_release_mode");
    if (options->fenced != 0 && options->fenced != 1)
        return rl_client_wrong(client,
                               "fenced must be 0, or 1 for a lock with a fencing token");
    if (options->fenced && !rl_kind_fences(kind, RL_ACQUIRE)) {
        rl_client_wrong(
            client, "a read lock has no fencing token: readers hold it together, so no order "
                    "of their writes is right; fence the write lock");
        return REDLOCK_ENOTSUP;
    }
    if (options->release == REDLOCK_RELEASE_LAZY && !client->background.user_driven &&
        client->config.background == REDLOCK_BACKGROUND_NEVER)
        return rl_client_wrong(client,
                               "REDLOCK_RELEASE_LAZY needs an event loop (redlock_fd), or a "
                               "background thread: 'background never' allows none");
    if (options->owner && !rl_kind_owned(kind))
        return rl_client_wrong(client, "owner is for all kinds but plain: each plain lock is "
                                       "its own, and names taken together are plain locks");
    if (options->owner && !rl_owner_allowed(options->owner, &sentence))
        return rl_client_wrong(client, sentence);
    if (options->owner && (sentence = clash(target, options->owner)))
        return rl_client_wrong(client, sentence);
    *ret_ttl_ms = options->ttl_ms ? options->ttl_ms : client->config.ttl_ms;
    int result = rl_ttl_check(client, kind, *ret_ttl_ms);
    return result ? result : rl_at_least_check(client, kind, options->at_least_ms);
}

/* The caller's options in this library's layout; NULL: the defaults. */
static int take_options(redlock *client, const redlock_options *given,
                        redlock_options *ret_options)
{
    char why[RL_STRUCT_WHY_MAX];
    *ret_options = (redlock_options)REDLOCK_OPTIONS_INIT;
    if (given && (!rl_options_take(given, ret_options, why, sizeof(why)) ||
                  !rl_report_fits(ret_options->report, why, sizeof(why))))
        return rl_client_wrong(client, why);
    return 0;
}

/* The kind of lock that the options name, on as many masters as there are. */
static int choose_kind(redlock *client, const struct rl_names_arg *names_arg,
                       const redlock_options *options, const struct rl_kind **ret_kind)
{
    const struct rl_kind *kind = rl_kind_on(options->kind, client->nodes.n);
    if (!kind)
        return rl_client_wrong(client, "kind must be one of enum redlock_kind");
    if (names_arg->packed && options->kind != REDLOCK_PLAIN) {
        rl_client_wrong(client, "only plain locks can be taken on several names at once");
        return REDLOCK_ENOTSUP;
    }
    if (kind->max_nodes && client->nodes.n > kind->max_nodes) {
        rl_client_log(client, REDLOCK_LOG_ERROR,
                      "a %s is not possible on %u masters: it needs a node list of %u",
                      kind->shown, client->nodes.n, kind->max_nodes);
        return REDLOCK_ENOTSUP;
    }
    *ret_kind = names_arg->packed ? rl_kind(RL_ROW_SEVERAL) : kind;
    assert((*ret_kind)->several == (names_arg->packed != NULL));
    return 0;
}

/* The target of a try, except the owner, whose bytes the acquisition has. */
static int resolve_target(redlock *client, const struct rl_names_arg *names_arg,
                          const redlock_options *options, struct rl_target *ret_target)
{
    int result = choose_kind(client, names_arg, options, &ret_target->kind);
    return result ? result : check_names(client, names_arg, ret_target);
}

/* The beginning of both calls: an acquisition with checked arguments and a user's lock.
 * Start it with rl_acquire_start(). */
static int begin_call(struct rl_acquire *acquire, redlock *client,
                      const struct rl_target *target, const redlock_options *options)
{
    assert(target->kind && target->name_len > 0);
    assert(!acquire->call.client && !acquire->waiter.queue); /* zeroed */
    int64_t ttl_ms = 0;
    int result = check(client, target, options, &ttl_ms);
    if (result == 0 && atomic_load(&client->calls.canceled))
        result = REDLOCK_ECANCELED;
    if (result == 0 && (options->auto_renew || options->on_lost || acquire->call.async))
        result = rl_background_require(client);
    if (result == 0 && options->release == REDLOCK_RELEASE_LAZY)
        result = rl_cork_require(client);
    if (result)
        return result;
    rl_acquire_init(acquire, client, target, options, ttl_ms);
    acquire->lock = rl_lock_new(client);
    if (!acquire->lock)
        return REDLOCK_ENOMEM;
    atomic_store(&acquire->lock->lazy, options->release == REDLOCK_RELEASE_LAZY);
    if (rl_call_begin(&acquire->call, client)) {
        rl_lock_recycle(acquire->lock);
        return REDLOCK_ENOMEM;
    }
    return 0;
}

bool rl_options_take(const redlock_options *given, redlock_options *ret_options, char *why,
                     size_t why_size)
{
    static const struct rl_struct shape =
        RL_STRUCT(redlock_options, "redlock_options", "REDLOCK_OPTIONS_INIT", ttl_ms);
    *ret_options = (redlock_options)REDLOCK_OPTIONS_INIT;
    return rl_struct_take(&shape, given, ret_options, why, why_size);
}

int rl_try(redlock *client, const struct rl_names_arg *names_arg, const redlock_options *given,
           redlock_lock **ret_lock)
{
    struct rl_acquire acquire;
    redlock_options options;
    struct rl_target target;
    int cancel_state;
    if (!ret_lock)
        return rl_client_refuse(client, RL_NO_RET_LOCK);
    int result = rl_client_enter_blocking(client, &cancel_state);
    if (result)
        return result;
    memset(&acquire, 0, offsetof(struct rl_acquire, refusals.held_ns));
    acquire.group = names_arg->group;
    int64_t now_ns = rl_loop_poll_if_idle(client);
    result = take_options(client, given, &options);
    if (result == 0)
        result = resolve_target(client, names_arg, &options, &target);
    if (result == 0)
        result = begin_call(&acquire, client, &target, &options);
    if (result == 0) {
        rl_acquire_start(&acquire, now_ns);
        result = rl_call_wait(&acquire.call, now_ns, ret_lock);
    }
    rl_client_leave_blocking(client, cancel_state);
    return result;
}

int redlock_try_n(redlock *client, const void *name, size_t name_len,
                  const redlock_options *options, redlock_lock **ret_lock)
{
    const redlock_bytes one = {.bytes = name, .len = name_len};
    const struct rl_names_arg names_arg = {.names = &one, .count = 1};
    return rl_try(client, &names_arg, options, ret_lock);
}

int redlock_try(redlock *client, const char *name, const redlock_options *options,
                redlock_lock **ret_lock)
{
    return redlock_try_n(client, name, name ? strlen(name) : 0, options, ret_lock);
}

int redlock_try_names_n(redlock *client, const redlock_bytes *names, size_t count,
                        const redlock_options *options, redlock_lock **ret_lock)
{
    char packed[RL_NAMES_BYTES_MAX];
    const struct rl_names_arg names_arg = {.names = names, .count = count, .packed = packed};
    return rl_try(client, &names_arg, options, ret_lock);
}

/* C strings as bytes with a length. Where there are too many, `ret_bytes` is not for use. */
static const redlock_bytes *measure(const char *const names[], size_t count,
                                    redlock_bytes ret_bytes[REDLOCK_NAMES_MAX])
{
    for (size_t i = 0; names && count <= REDLOCK_NAMES_MAX && i < count; i++)
        ret_bytes[i] = (redlock_bytes){names[i], names[i] ? strlen(names[i]) : 0};
    return names ? ret_bytes : NULL;
}

int redlock_try_names(redlock *client, const char *const names[], size_t count,
                      const redlock_options *options, redlock_lock **ret_lock)
{
    redlock_bytes bytes[REDLOCK_NAMES_MAX];
    return redlock_try_names_n(client, measure(names, count, bytes), count, options, ret_lock);
}

/* ---- asynchronous --------------------------------------------------------------------- */

/* The name is at the end of the acquisition's block. */
static int make_async(redlock *client, const struct rl_names_arg *names_arg,
                      const redlock_options *given, redlock_done_fn *done, void *context,
                      uint64_t *ret_id)
{
    redlock_options options;
    struct rl_target target;
    int result = take_options(client, given, &options);
    if (result == 0)
        result = resolve_target(client, names_arg, &options, &target);
    if (result)
        return result;
    struct rl_acquire *acquire =
        rl_call_new(&client->calls, sizeof(*acquire) + target.name_len,
                    offsetof(struct rl_acquire, refusals.held_ns), done, context);
    if (!acquire)
        return REDLOCK_ENOMEM;
    result = begin_call(acquire, client, &target, &options);
    if (result) {
        rl_call_free(&client->calls, acquire);
        return result;
    }
    memcpy(acquire + 1, target.name, target.name_len);
    acquire->target.name = acquire + 1;
    if (ret_id)
        *ret_id = acquire->call.id;
    rl_acquire_start(acquire, rl_client_now_ns(client));
    return 0;
}

static int try_async(redlock *client, const struct rl_names_arg *names_arg,
                     const redlock_options *options, redlock_done_fn *done, void *context,
                     uint64_t *ret_id)
{
    int cancel_state;
    if (!done)
        return rl_client_refuse(client, RL_NO_DONE);
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    result = make_async(client, names_arg, options, done, context, ret_id);
    if (result == 0 && rl_background_defers(client))
        rl_client_leave_unsent(client, cancel_state);
    else
        rl_client_leave(client, cancel_state);
    return result;
}

int redlock_try_async_n(redlock *client, const void *name, size_t name_len,
                        const redlock_options *options, redlock_done_fn *done, void *context,
                        uint64_t *ret_id)
{
    const redlock_bytes one = {.bytes = name, .len = name_len};
    const struct rl_names_arg names_arg = {.names = &one, .count = 1};
    return try_async(client, &names_arg, options, done, context, ret_id);
}

int redlock_try_async(redlock *client, const char *name, const redlock_options *options,
                      redlock_done_fn *done, void *context, uint64_t *ret_id)
{
    return redlock_try_async_n(client, name, name ? strlen(name) : 0, options, done, context,
                               ret_id);
}

int redlock_try_names_async_n(redlock *client, const redlock_bytes *names, size_t count,
                              const redlock_options *options, redlock_done_fn *done,
                              void *context, uint64_t *ret_id)
{
    char packed[RL_NAMES_BYTES_MAX];
    const struct rl_names_arg names_arg = {.names = names, .count = count, .packed = packed};
    return try_async(client, &names_arg, options, done, context, ret_id);
}

int redlock_try_names_async(redlock *client, const char *const names[], size_t count,
                            const redlock_options *options, redlock_done_fn *done,
                            void *context, uint64_t *ret_id)
{
    redlock_bytes bytes[REDLOCK_NAMES_MAX];
    return redlock_try_names_async_n(client, measure(names, count, bytes), count, options, done,
                                     context, ret_id);
}
