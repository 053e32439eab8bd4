/* explore.h - every state that a model can come to, breadth first, until one is wrong.
 *
 * A state is some bytes that decide the future, and nothing else. States that differ by names
 * only have one canonical form, and count once. Of each state its parent is kept. So a wrong
 * state is told as the shortest schedule that leads to it, one sentence a step.
 */
#ifndef TEST_EXPLORE_H
#define TEST_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define EXPLORE_STATE_MAX 128

struct explorer;

struct model {
    size_t size; /* of a state, at most EXPLORE_STATE_MAX */
    void (*begin)(const void *rules, void *ret_state);
    /* Calls explore_move() with each state that may come next. */
    void (*moves)(const void *rules, const void *state, struct explorer *explorer);
    void (*canonical)(const void *rules, void *state);
    const char *(*wrong)(const void *rules, const void *state); /* NULL: nothing */
};

/* In one step the model comes to this state. The text is a sentence that says how. */
void explore_move(struct explorer *explorer, const void *state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct exploration {
    bool complete; /* all states were visited. False: one is wrong, or the bound was met */
    const char *wrong;
    size_t states;
    double seconds; /* of the processor */
};

/* At most `bound` states are visited. A schedule that leads to a wrong state is told to `story`
 * (NULL: it is not). */
struct exploration explore(const struct model *model, const void *rules, size_t bound,
                           FILE *story);

#endif
