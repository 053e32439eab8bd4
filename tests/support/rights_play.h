/* rights_play.h - plays what locks do by their scripts, as one user: is it allowed all? */
#ifndef TEST_RIGHTS_PLAY_H
#define TEST_RIGHTS_PLAY_H

#include "script_talk.h"

struct rights_player {
    struct talk user;
    struct talk *admin; /* may do everything */
    unsigned errors;    /* of the user's scripts */
};

/* A script of that row; -1: an error, which is counted. */
int64_t rights_run(struct rights_player *player, int row, enum rl_verb verb, const char *owner,
                   const char *token);

/* Every command that the kinds' scripts have is called. The masters are empty afterwards. */
void rights_play_plain(struct rights_player *player);  /* of several names, too */
void rights_play_others(struct rights_player *player); /* also looked at and forced */
void rights_play_all(struct rights_player *player);

/* Of one kind on so many masters, beside plain locks. They are looked at and forced, or not. */
void rights_play_kind(struct rights_player *player, int kind, unsigned masters, bool looks);

#endif
