/* svg_holds.c - the holders of a lock over time, in cells as wide as a dot. A drawing of
 * 200,000 holds is thus as small as one of 200. The height of a cell is the part of its time in
 * which the lock was held. Its colour is that of the holder for most of that time, or neutral
 * if several held it in turn. */
#include "config_auto.h"

#include "chaos/report/page.h"

#include <stdlib.h>
#include <string.h>

#define LEVELS 4   /* heights that are told apart */
#define MOSTLY 0.6 /* of the held time: its holder gives the cell its colour */

struct cell {
    uint8_t level;  /* 0: hardly held */
    uint8_t client; /* CHAOS_CLIENTS_MAX: several */
};

struct lane {
    size_t cells;
    double cell_ns;
    int64_t from_ns;
    float *held; /* by contender in each cell, ns */
    struct cell *cell;
};

static void add_hold(struct lane *lane, const struct chaos_hold *hold)
{
    double from = (double)(hold->at_ns - lane->from_ns) / lane->cell_ns;
    double to = (double)(hold->end_ns - lane->from_ns) / lane->cell_ns;
    if (to <= 0 || from >= (double)lane->cells)
        return;
    if (to > (double)lane->cells)
        to = (double)lane->cells;
    if (from < 0)
        from = 0;
    for (size_t i = (size_t)from; i < lane->cells && (double)i < to; i++) {
        double begin = from > (double)i ? from : (double)i;
        double end = to < (double)(i + 1) ? to : (double)(i + 1);
        lane->held[i * CHAOS_CLIENTS_MAX + hold->client] += (float)(end - begin);
    }
}

static struct cell cell_of(const float *held)
{
    float all = 0, most = 0;
    struct cell cell = {0, CHAOS_CLIENTS_MAX};
    for (unsigned i = 0; i < CHAOS_CLIENTS_MAX; i++) {
        all += held[i];
        if (held[i] <= most)
            continue;
        most = held[i];
        cell.client = (uint8_t)i;
    }
    if (all < 0.02F)
        return (struct cell){0, 0};
    if (most < MOSTLY * all)
        cell.client = CHAOS_CLIENTS_MAX;
    double level = (double)all * LEVELS;
    cell.level = (uint8_t)(level < 1 ? 1 : level > LEVELS ? LEVELS : level + 0.5);
    return cell;
}

/* One path for all cells of one contender: runs of equal cells are one rectangle. */
static void draw_cells(struct chaos_page *page, const struct chaos_scale *scale,
                       const struct lane *lane, unsigned client, double top, double height)
{
    bool any = false;
    double width = scale->width / (double)lane->cells;
    for (size_t i = 0; i < lane->cells;) {
        struct cell cell = lane->cell[i];
        size_t next = i + 1;
        while (next < lane->cells && lane->cell[next].level == cell.level &&
               lane->cell[next].client == cell.client)
            next++;
        if (cell.level > 0 && cell.client == client) {
            char fill[32];
            double tall = height * cell.level / LEVELS;
            if (!any)
                fprintf(page->to, "<path %s d=\"",
                        client == CHAOS_CLIENTS_MAX ? "class=\"several\""
                                                    : chaos_svg_fill(client, fill));
            any = true;
            fprintf(page->to, "M%.4g %.4gh%.3gv%.3gh-%.3gz", scale->left + (double)i * width,
                    top + height - tall, (double)(next - i) * width, tall,
                    (double)(next - i) * width);
        }
        i = next;
    }
    if (any)
        fputs("\"/>\n", page->to);
}

void chaos_svg_holds(struct chaos_page *page, const struct chaos_scale *scale, unsigned name,
                     double top, double height)
{
    struct lane lane = {
        .cells = (size_t)scale->width,
        .cell_ns = (double)(scale->to_ns - scale->from_ns) / (double)(size_t)scale->width,
        .from_ns = scale->from_ns,
    };
    lane.held = chaos_room(lane.cells * CHAOS_CLIENTS_MAX, sizeof(*lane.held));
    lane.cell = chaos_room(lane.cells, sizeof(*lane.cell));
    const struct chaos_hold_history *hold_history = &page->hold_history;
    for (size_t i = hold_history->first_hold[name]; i < hold_history->first_hold[name + 1]; i++)
        add_hold(&lane, &hold_history->hold[i]);
    for (size_t i = 0; i < lane.cells; i++)
        lane.cell[i] = cell_of(&lane.held[i * CHAOS_CLIENTS_MAX]);
    for (unsigned client = 0; client <= CHAOS_CLIENTS_MAX; client++)
        draw_cells(page, scale, &lane, client, top, height);
    free(lane.held);
    free(lane.cell);
}
