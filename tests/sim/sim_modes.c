/* sim_modes.c - see sim_modes.h: the command lines of named scenarios and small worlds. */
#include "config_auto.h"

#include "sim_modes.h"

#include "sim_named.h"
#include "sim_small.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2 };

static int wrong(const char *what)
{
    fprintf(stderr, "sim: %s? See sim --help.\n", what);
    return EXIT_USAGE;
}

static int named(int argc, char **argv)
{
    const char *name = NULL;
    bool update = false, trace = false;
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--update") == 0)
            update = true;
        else if (strcmp(argv[i], "--trace") == 0)
            trace = true;
        else if (strcmp(argv[i], "--list") == 0) {
            sim_named_list();
            return EXIT_SUCCESS;
        } else if (argv[i][0] == '-' || name)
            return wrong(argv[i]);
        else
            name = argv[i];
    }
    return sim_named_run(name, update, trace);
}

static int small(int argc, char **argv)
{
    struct sim_small_options options = {.big = false};
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--big") == 0)
            options.big = true;
        else if (strcmp(argv[i], "--world") == 0 && i + 1 < argc)
            options.only = strtoull(argv[++i], NULL, 10);
        else
            return wrong(argv[i]);
    }
    return sim_small_run(&options);
}

static int stops(int argc, char **argv)
{
    struct sim_small_options options = {.big = false};
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--stop") == 0 && i + 1 < argc)
            options.only = strtoull(argv[++i], NULL, 10);
        else
            return wrong(argv[i]);
    }
    return sim_stops_run(&options);
}

static int replies(int argc, char **argv)
{
    uint64_t only = 0, worlds = 0;
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--world") == 0 && i + 1 < argc)
            only = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--worlds") == 0 && i + 1 < argc)
            worlds = strtoull(argv[++i], NULL, 10);
        else
            return wrong(argv[i]);
    }
    return sim_replies_run(only, worlds);
}

bool sim_modes_run(int argc, char **argv, int *ret_status)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* what was said before a crash is seen, too */
    if (argc > 1 && strcmp(argv[1], "--named") == 0)
        *ret_status = named(argc, argv);
    else if (argc > 1 && strcmp(argv[1], "--small") == 0)
        *ret_status = small(argc, argv);
    else if (argc > 1 && strcmp(argv[1], "--stops") == 0)
        *ret_status = stops(argc, argv);
    else if (argc > 1 && strcmp(argv[1], "--replies") == 0)
        *ret_status = replies(argc, argv);
    else
        return false;
    return true;
}
