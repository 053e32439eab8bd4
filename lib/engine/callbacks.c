/* callbacks.c - see callbacks.h. */
#include "config_auto.h"

#include "engine/client.h"

#include <assert.h>

void rl_notice_post(redlock *client, struct rl_notice *notice)
{
    struct rl_notices *notices = &client->notices;
    assert(!notice->posted);
    notice->posted = true;
    notice->next = NULL;
    if (notices->first)
        notices->last->next = notice;
    else
        notices->first = notice;
    notices->last = notice;
    rl_loop_kick(client);
}

void rl_notice_drop(redlock *client, struct rl_notice *notice)
{
    struct rl_notices *notices = &client->notices;
    struct rl_notice *before = NULL;
    if (!notice->posted)
        return;
    for (struct rl_notice *at = notices->first; at != notice; at = at->next)
        before = at;
    if (before)
        before->next = notice->next;
    else
        notices->first = notice->next;
    if (notices->last == notice)
        notices->last = before;
    notice->posted = false;
}

void rl_notices_tell(redlock *client)
{
    struct rl_notices *notices = &client->notices;
    while (notices->first && !notices->calling) {
        struct rl_notice *notice = notices->first;
        notices->first = notice->next;
        notice->posted = false;
        notice->tell(client, notice);
    }
}

void rl_notice_call_begin(redlock *client, const void *about)
{
    struct rl_notices *notices = &client->notices;
    assert(!notices->calling);
    notices->calling = true;
    notices->caller = pthread_self();
    notices->about = about;
    pthread_mutex_unlock(&client->mutex);
}

void rl_notice_call_end(redlock *client)
{
    pthread_mutex_lock(&client->mutex);
    client->notices.calling = false;
    client->notices.about = NULL;
    pthread_cond_broadcast(&client->notices.called);
}

bool rl_notice_inside(const redlock *client)
{
    return client->notices.calling && pthread_equal(client->notices.caller, pthread_self());
}

void rl_notice_wait(redlock *client, const void *about)
{
    while (client->notices.about == about && !rl_notice_inside(client))
        pthread_cond_wait(&client->notices.called, &client->mutex);
}
