/* explore.c - see explore.h: an array of states, which is the queue too, and a table of them.
 */
#include "config_auto.h"

#include "explore.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct explorer {
    const struct model *model;
    const void *rules;
    size_t bound;

    unsigned char *states; /* in canonical form, in the order in which they were found */
    uint32_t *parents;
    size_t count, room;
    uint32_t *table; /* index + 1 of a state; 0: free */
    size_t table_size;

    size_t from; /* moves are made from this one */
    bool cut;    /* the bound was met */
    const char *wrong;

    /* A story is told: the move to `next` is searched for, by its canonical form. */
    FILE *story;
    const unsigned char *next;
    unsigned char found[EXPLORE_STATE_MAX];
    bool is_found;
    size_t step;
};

/* ---- the set of states ----------------------------------------------------------------- */

static unsigned char *state_at(const struct explorer *explorer, size_t index)
{
    return explorer->states + index * explorer->model->size;
}

static uint64_t hash_of(const unsigned char *bytes, size_t size)
{
    uint64_t hash = size;
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        size_t rest = size - i < sizeof(word) ? size - i : sizeof(word);
        memcpy(&word, bytes + i, rest);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

static void *grown(void *array, size_t count, size_t size)
{
    void *more = realloc(array, count * size);
    if (!more) {
        fprintf(stderr, "no memory for %zu states\n", count);
        exit(99);
    }
    return more;
}

/* The place of a state in the table, or the free one where it belongs. */
static uint32_t *place_of(const struct explorer *explorer, const unsigned char *state)
{
    size_t size = explorer->model->size;
    size_t at = (size_t)hash_of(state, size) & (explorer->table_size - 1);
    while (explorer->table[at] != 0 &&
           memcmp(state_at(explorer, explorer->table[at] - 1), state, size) != 0)
        at = (at + 1) & (explorer->table_size - 1);
    return &explorer->table[at];
}

static void make_room(struct explorer *explorer)
{
    if (explorer->count < explorer->room)
        return;
    explorer->room = explorer->room ? 2 * explorer->room : 1024;
    explorer->states = grown(explorer->states, explorer->room, explorer->model->size);
    explorer->parents = grown(explorer->parents, explorer->room, sizeof(uint32_t));
    free(explorer->table);
    explorer->table_size = 2 * explorer->room;
    explorer->table = grown(NULL, explorer->table_size, sizeof(uint32_t));
    memset(explorer->table, 0, explorer->table_size * sizeof(uint32_t));
    for (size_t i = 0; i < explorer->count; i++)
        *place_of(explorer, state_at(explorer, i)) = (uint32_t)(i + 1);
}

static void add(struct explorer *explorer, const unsigned char *state)
{
    make_room(explorer);
    uint32_t *place = place_of(explorer, state);
    if (*place != 0)
        return;
    if (explorer->count == explorer->bound) {
        explorer->cut = true;
        return;
    }
    memcpy(state_at(explorer, explorer->count), state, explorer->model->size);
    explorer->parents[explorer->count] = (uint32_t)explorer->from;
    *place = (uint32_t)++explorer->count;
    explorer->wrong = explorer->model->wrong(explorer->rules, state);
}

/* ---- moves, and the story -------------------------------------------------------------- */

static void tell(struct explorer *explorer, const void *state, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

static void tell(struct explorer *explorer, const void *state, const char *format, va_list args)
{
    explorer->is_found = true;
    memcpy(explorer->found, state, explorer->model->size);
    fprintf(explorer->story, "  %2zu. ", ++explorer->step);
    vfprintf(explorer->story, format, args);
    fputc('\n', explorer->story);
}

void explore_move(struct explorer *explorer, const void *state, const char *format, ...)
{
    unsigned char canonical[EXPLORE_STATE_MAX];
    memcpy(canonical, state, explorer->model->size);
    explorer->model->canonical(explorer->rules, canonical);
    if (!explorer->next) {
        if (!explorer->wrong)
            add(explorer, canonical);
        return;
    }
    if (explorer->is_found || memcmp(canonical, explorer->next, explorer->model->size) != 0)
        return;
    va_list args;
    va_start(args, format);
    tell(explorer, state, format, args);
    va_end(args);
}

/* Canonical forms change names on the way. So the schedule is played again by states that keep
 * theirs, and each step is the move whose canonical form is the next one. */
static void tell_story(struct explorer *explorer)
{
    size_t count = 0, path[256];
    for (size_t at = explorer->count - 1; at != 0; at = explorer->parents[at]) {
        assert(count < sizeof(path) / sizeof(path[0]));
        path[count++] = at;
    }
    unsigned char state[EXPLORE_STATE_MAX];
    explorer->model->begin(explorer->rules, state);
    while (count > 0) {
        explorer->next = state_at(explorer, path[--count]);
        explorer->is_found = false;
        explorer->model->moves(explorer->rules, state, explorer);
        assert(explorer->is_found);
        memcpy(state, explorer->found, explorer->model->size);
    }
    fprintf(explorer->story, "      %s.\n", explorer->wrong);
}

struct exploration explore(const struct model *model, const void *rules, size_t bound,
                           FILE *story)
{
    assert(model->size <= EXPLORE_STATE_MAX && bound > 0 && bound < UINT32_MAX);
    struct explorer explorer = {.model = model, .rules = rules, .bound = bound, .story = story};
    unsigned char state[EXPLORE_STATE_MAX];
    clock_t began = clock();
    model->begin(rules, state);
    model->canonical(rules, state);
    add(&explorer, state);
    for (; explorer.from < explorer.count && !explorer.wrong && !explorer.cut;
         explorer.from++) {
        memcpy(state, state_at(&explorer, explorer.from), model->size); /* the array may move */
        model->moves(rules, state, &explorer);
    }
    if (explorer.wrong && story)
        tell_story(&explorer);
    free(explorer.states);
    free(explorer.parents);
    free(explorer.table);
    return (struct exploration){
        .complete = !explorer.wrong && !explorer.cut,
        .wrong = explorer.wrong,
        .states = explorer.count,
        .seconds = (double)(clock() - began) / (double)CLOCKS_PER_SEC,
    };
}
