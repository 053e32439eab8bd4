/* several_model.h - what the scripts for several names must do, said by what those for one
 * name do (scripts_model.h). That is all or none, and else each name as if it were alone. */
#ifndef TEST_SEVERAL_MODEL_H
#define TEST_SEVERAL_MODEL_H

#include "scripts_model.h"

#define SEVERAL_MAX 4

/* Who was called, in the order of the names. */
struct several_told {
    struct frame_answer answer;
    unsigned calls;
    int called[SEVERAL_MAX];
};

/* The script of that verb, executed at some time of `when`, for those of the locks whose bit
 * is set. The locks are in the order of their names. */
struct several_told several_run(struct model *model, struct model_lock locks[SEVERAL_MAX],
                                unsigned names, enum rl_verb verb,
                                const struct model_call *call, struct span when);

#endif
