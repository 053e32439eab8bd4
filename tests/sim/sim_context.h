/* sim_context.h - stacks, and switching between them. Knows nothing of processes and time. */
#ifndef SIM_CONTEXT_H
#define SIM_CONTEXT_H

#include <stdbool.h>

#if !defined(SIM_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define SIM_UCONTEXT 1 /* portable, with a system call each way */
#endif
#if defined(SIM_UCONTEXT) || defined(__ILP32__)
#undef SIM_UCONTEXT
#define SIM_UCONTEXT 1
#else
#define SIM_UCONTEXT 0
#endif

#if defined(__SANITIZE_ADDRESS__)
#define SIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_ASAN 1
#endif
#endif
#ifndef SIM_ASAN
#define SIM_ASAN 0
#endif

#if SIM_UCONTEXT
#include <ucontext.h>
#endif

/* Where somebody stands who does not run. */
struct sim_context {
#if SIM_UCONTEXT
    ucontext_t registers;
#else
    void *sp;
#endif
    char *stack; /* lowest byte; NULL: the main one, or none any more */
    void (*run)(void *);
    void *argument;
#if SIM_ASAN
    void *fake_stack;
#endif
};

/* A context with a stack of its own, on which run(argument) begins when it is first switched
 * to. It must never return: it ends by sim_context_leave(context, true). */
void sim_context_make(struct sim_context *context, void (*run)(void *), void *argument);

/* From the main stack to it, until it leaves. */
void sim_context_enter(struct sim_context *context);
/* From it, which runs, to the main stack. `last`: it is not entered again. */
void sim_context_leave(struct sim_context *context, bool last);

/* Its stack is kept for another. Not while it runs. */
void sim_context_drop(struct sim_context *context);

#endif
