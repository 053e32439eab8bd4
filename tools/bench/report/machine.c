/* machine.c - see machine.h. */
#include "config_auto.h"

#include "bench/report/machine.h"

#include "bench/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void look_at_cpu(char *ret_name, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");
    *ret_name = '\0';
    while (file != NULL && *ret_name == '\0' && fgets(line, sizeof(line), file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL && colon[1] == ' ')
            snprintf(ret_name, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    }
    if (file != NULL)
        fclose(file);
}

double bench_machine_load(void)
{
    double load;
    return getloadavg(&load, 1) == 1 ? load : -1;
}

void bench_machine_look(struct bench_machine *ret_machine)
{
    struct utsname name;
    *ret_machine =
        (struct bench_machine){.source = BENCH_SOURCE, .cpus = sysconf(_SC_NPROCESSORS_ONLN)};
    if (uname(&name) == 0)
        snprintf(ret_machine->system, sizeof(ret_machine->system), "%.48s %.64s %.40s",
                 name.sysname, name.release, name.machine);
    look_at_cpu(ret_machine->cpu, sizeof(ret_machine->cpu));
    ret_machine->load = bench_machine_load();
}
