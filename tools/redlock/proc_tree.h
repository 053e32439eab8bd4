/* proc_tree.h - the processes that descend from this one, found in /proc. */
#ifndef PROC_TREE_H
#define PROC_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct proc {
    pid_t pid;
    pid_t parent;
    pid_t group;
    char state; /* as in /proc/PID/stat; Z: it has ended */
    unsigned long long started;
    bool ours; /* it descends from us */
};

struct proc_tree {
    struct proc *procs; /* those that descend from us, ended ones left out */
    size_t count;
};

/* Children that were here before (a shell that became us by exec may have left some), and
 * whatever descends from them, are none of ours. False: out of memory, or no /proc. */
bool proc_tree_read(struct proc_tree *ret_tree, const pid_t *strangers, size_t stranger_count);
void proc_tree_free(struct proc_tree *tree);

/* Signal those of the group `only` (0: of any) that are not of the group `but` (0: of none).
 * True where there was anyone. Signal 0 just looks. A number that was given to another
 * process since the tree was read gets nothing. */
bool proc_tree_signal(const struct proc_tree *tree, pid_t only, pid_t but, int signal_number);

#endif
