/* confirm.c - asks whether faults may be done to masters that were not started here. */
#include "config_auto.h"

#include "chaos/faults/confirm.h"

#include "chaos/faults/fault.h"
#include "chaos/faults/kinds.h"

#include <string.h>
#include <unistd.h>

/* The kinds that would be done to the masters themselves if they are allowed. */
static uint64_t to_masters(const struct chaos_run *run, uint64_t faults, uint64_t named)
{
    uint64_t kinds =
        faults & (CHAOS_OF_COMMANDS | CHAOS_OF_PLACES) & (named | ~CHAOS_NOT_UNDONE);
    for (int i = 0; i < CHAOS_FAULT_KINDS; i++) {
        enum chaos_fault_kind kind = (enum chaos_fault_kind)i;
        if ((CHAOS_OF_PLACES & CHAOS_BIT(i)) != 0 &&
            run->place.type->cannot(&run->place, kind) != NULL)
            kinds &= ~CHAOS_BIT(i);
    }
    return kinds;
}

void chaos_confirm_faults(const struct chaos_run *run, struct chaos_options *options,
                          uint64_t named)
{
    char answer[16] = "";
    uint64_t kinds = to_masters(run, options->faults, named);
    if (run->place.ours || options->yes || kinds == 0 || !isatty(STDIN_FILENO) ||
        !isatty(STDOUT_FILENO))
        return;
    printf("These masters were not started here:\n");
    for (unsigned i = 0; i < run->nodes; i++)
        printf("  %s\n", run->place.config.nodes[i].label);
    printf("They would be put through, and out of again:\n");
    for (int i = 0; i < CHAOS_FAULT_KINDS; i++)
        if ((kinds & CHAOS_BIT(i)) != 0)
            printf("  %-16s %s\n", chaos_fault_word((enum chaos_fault_kind)i),
                   chaos_fault_text((enum chaos_fault_kind)i));
    printf("May they be (y/N)? ");
    fflush(stdout);
    if (fgets(answer, sizeof(answer), stdin) != NULL)
        options->yes = strcmp(answer, "y\n") == 0 || strcmp(answer, "yes\n") == 0;
}
