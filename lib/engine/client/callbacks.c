/* callbacks.c - see callbacks.h. */
#include "config_auto.h"

#include "engine/client/client.h"
#include "engine/client/kick.h"

#include <assert.h>

void rl_callback_enqueue(redlock *client, struct rl_callback *callback)
{
    assert(callback->run);
    rl_list_append(&client->callbacks.queue, &callback->entry);
    rl_kick(&client->background);
}

void rl_callback_remove(struct rl_callbacks *callbacks, struct rl_callback *callback)
{
    struct rl_list *queue = &callbacks->queue;
    if (rl_list_has(queue, &callback->entry))
        rl_list_remove(queue, &callback->entry);
}

void rl_callbacks_run(redlock *client)
{
    struct rl_callbacks *callbacks = &client->callbacks;
    assert(!rl_in_callback(&client->callbacks));
    while (callbacks->queue.first && !callbacks->calling) {
        struct rl_callback *callback =
            RL_ITEM(rl_list_pop(&callbacks->queue), struct rl_callback, entry);
        callback->run(client, callback);
    }
}

void rl_callback_enter(redlock *client, const void *about)
{
    struct rl_callbacks *callbacks = &client->callbacks;
    assert(!callbacks->calling);
    callbacks->calling = true;
    callbacks->caller = pthread_self();
    callbacks->about = about;
    pthread_mutex_unlock(&client->mutex);
}

void rl_callback_exit(redlock *client)
{
    pthread_mutex_lock(&client->mutex);
    assert(client->callbacks.calling);
    assert(pthread_equal(client->callbacks.caller, pthread_self()));
    client->callbacks.calling = false;
    client->callbacks.about = NULL;
    pthread_cond_broadcast(&client->callbacks.called);
}

bool rl_in_callback(const struct rl_callbacks *callbacks)
{
    return callbacks->calling && pthread_equal(callbacks->caller, pthread_self());
}

void rl_callback_wait(redlock *client, const void *about)
{
    assert(about); /* NULL is what all other callbacks are about */
    while (client->callbacks.about == about && !rl_in_callback(&client->callbacks))
        pthread_cond_wait(&client->callbacks.called, &client->mutex);
}
