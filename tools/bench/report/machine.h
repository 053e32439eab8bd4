/* machine.h - where a run was made and of what source, and how busy it was there. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

struct bench_machine {
    char system[160];   /* "Linux 6.1.0 x86_64" */
    char cpu[96];       /* its name; empty: unknown */
    const char *source; /* of this program: a commit, with + if it was changed; or a release */
    long cpus;
    double load; /* of the last minute, when the run began; -1: not known */
};

void bench_machine_look(struct bench_machine *ret_machine);
double bench_machine_load(void);

#endif
