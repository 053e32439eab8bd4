/* sim_modes.h - what the simulator's program can do besides random worlds. */
#ifndef SIM_MODES_H
#define SIM_MODES_H

#include <stdbool.h>

#define SIM_MODES_USAGE                                                                        \
    "       sim --named [NAME] [--trace] [--update]\n"                                         \
    "       sim --small [--big] [--world K]\n"                                                 \
    "       sim --stops [--stop K]\n"                                                          \
    "       sim --replies [--worlds N] [--world K]\n"

#define SIM_MODES_HELP                                                                         \
    "  --named          scenarios, or this one, held against their stories in\n"               \
    "                   tests/sim/golden; --list names them, --trace shows the story,\n"       \
    "                   --update writes it\n"                                                  \
    "  --small          all worlds of a small kind; --big: of a larger one; --world K:\n"      \
    "                   this one alone, with its story\n"                                      \
    "  --stops          one history, stopped at each of its system calls; --stop K: "          \
    "likewise\n"                                                                            \
    "  --replies        any reply of one master to any request of any kind of lock, under\n"     \
    "                   any settings; --worlds N: so many of all worlds, --world K: this\n"      \
    "                   one alone, with its story\n"

/* Is it one of these that is asked for? Then the program's exit status. */
bool sim_modes_run(int argc, char **argv, int *ret_status);

#endif
