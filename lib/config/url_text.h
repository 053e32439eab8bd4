/* url_text.h - the bytes of a URL's parts: percent signs decoded, and written again. Core. */
#ifndef RL_URL_TEXT_H
#define RL_URL_TEXT_H

#include "config/config.h"
#include "base/diagnostic.h"

/* A part of a URL, for messages. */
struct rl_url_field {
    const char *name;
    size_t max; /* decoded bytes */
};

/* Decode text[start, end). An empty part gives NULL. On an error nothing is left in memory.
 * 0, REDLOCK_ECONFIG (offset into `text`) or REDLOCK_ENOMEM. */
int rl_url_decode(const char *text, size_t start, size_t end, const struct rl_url_field *field,
                  char **ret_decoded, struct rl_problem *problem);

/* Drop what changes nothing in a path: "//" and "/./". */
void rl_path_tidy(char *path);

/* Make the label of a node: its URL, normalised, without the password, and the database
 * only where it is not 0. 0 or REDLOCK_ENOMEM. */
int rl_url_label(struct rl_node_config *node, struct rl_problem *problem);

#endif
