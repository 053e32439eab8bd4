/* variants.h - the models, as they are and with one rule broken at a time. */
#ifndef TEST_MODEL_VARIANTS_H
#define TEST_MODEL_VARIANTS_H

#include "explore.h"

/* At most, of a variant: two gigabytes. */
#define VARIANT_STATES 30000000

struct variant {
    const char
        *rule; /* which is broken, as docs/RULES.md names it; NULL: none, it must be safe */
    const char *name;
    const struct model *model;
    const void *rules;
    bool large; /* takes more than a second: not for each `make check` */
};

extern const struct variant variants[];
extern const size_t variant_count;

struct exploration variant_explore(const struct variant *variant, FILE *story);

/* Safe ones are complete and nothing is wrong; broken ones are caught. */
bool variant_as_it_must(const struct variant *variant, const struct exploration *found);

#endif
