/* sim_context.c - see sim_context.h. A switch takes a few nanoseconds: it saves what a called
 * function has to keep, and no signal mask. Stacks have a page below that nobody may touch,
 * and are used again, the last one first.
 */
#include "config_auto.h"

#include "sim_context.h"
#include "sim_parts.h"
#include "sim_real.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if SIM_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define STACK_BYTES ((size_t)1024 * 1024)
#else
#define STACK_BYTES ((size_t)256 * 1024)
#endif

/* At the top of a stack that nobody uses. */
struct spare {
    struct spare *next;
    char *stack;
};

static struct spare *spares;
static struct sim_context main_context;
static struct sim_context *entered; /* the one that runs */

/* ---- stacks --------------------------------------------------------------------------- */

static struct spare *spare_of(char *stack)
{
    return (struct spare *)(void *)(stack + STACK_BYTES - sizeof(struct spare));
}

static char *take_stack(void)
{
    struct spare *spare = spares;
    if (spare) {
        spares = spare->next;
        return spare->stack;
    }
    size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = sim_real_mmap(NULL, guard + STACK_BYTES, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages, guard, PROT_NONE) != 0)
        sim_die("no memory for one more stack");
    return pages + guard;
}

void sim_context_drop(struct sim_context *context)
{
    assert(context->stack);
#if SIM_ASAN
    __asan_unpoison_memory_region(context->stack, STACK_BYTES);
#endif
    struct spare *spare = spare_of(context->stack);
    spare->stack = context->stack;
    spare->next = spares;
    spares = spare;
    context->stack = NULL;
}

/* ---- switching ------------------------------------------------------------------------ */

static void begin(void);

#if SIM_UCONTEXT

static void prepare(struct sim_context *context)
{
    getcontext(&context->registers);
    context->registers.uc_stack.ss_sp = context->stack;
    context->registers.uc_stack.ss_size = STACK_BYTES;
    context->registers.uc_link = NULL;
    makecontext(&context->registers, begin, 0);
}

static void change(struct sim_context *from, struct sim_context *to)
{
    swapcontext(&from->registers, &to->registers);
}

#else

/* Push what must be kept, leave the stack, take the other one, pop. */
void sim_change_stacks(void **ret_sp, void *sp);

#if defined(__x86_64__)
enum { SAVED = 8 }; /* six registers, where to go on, and what a caller would have left */
enum { SAVED_PLACE = 6 };
__asm__(".text\n"
        ".p2align 4\n"
        ".globl sim_change_stacks\n"
        ".hidden sim_change_stacks\n"
        ".type sim_change_stacks, @function\n"
        "sim_change_stacks:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size sim_change_stacks, . - sim_change_stacks\n");
#else
enum { SAVED = 20 }; /* x19 to x30, d8 to d15 */
enum { SAVED_PLACE = 11 };
__asm__(".text\n"
        ".p2align 4\n"
        ".globl sim_change_stacks\n"
        ".hidden sim_change_stacks\n"
        ".type sim_change_stacks, %function\n"
        "sim_change_stacks:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size sim_change_stacks, . - sim_change_stacks\n");
#endif

static void prepare(struct sim_context *context)
{
    uintptr_t *top = (uintptr_t *)(void *)(context->stack + STACK_BYTES);
    uintptr_t *saved = top - SAVED;

    memset(saved, 0, SAVED * sizeof(*saved));
    saved[SAVED_PLACE] = (uintptr_t)begin;
    context->sp = saved;
}

static void change(struct sim_context *from, struct sim_context *to)
{
    sim_change_stacks(&from->sp, to->sp);
}

#endif

/* ---- the sanitizer is told ------------------------------------------------------------ */

#if SIM_ASAN

static const void *main_stack;
static size_t main_stack_bytes;

static void will_enter(struct sim_context *to)
{
    __sanitizer_start_switch_fiber(&main_context.fake_stack, to->stack, STACK_BYTES);
}

static void will_leave(struct sim_context *from, bool last)
{
    __sanitizer_start_switch_fiber(last ? NULL : &from->fake_stack, main_stack,
                                   main_stack_bytes);
}

static void is_here(struct sim_context *context)
{
    __sanitizer_finish_switch_fiber(context->fake_stack, NULL, NULL);
}

static void has_begun(void)
{
    __sanitizer_finish_switch_fiber(NULL, &main_stack, &main_stack_bytes);
}

#else

static void will_enter(struct sim_context *to)
{
    (void)to;
}

static void will_leave(struct sim_context *from, bool last)
{
    (void)from, (void)last;
}

static void is_here(struct sim_context *context)
{
    (void)context;
}

static void has_begun(void)
{
}

#endif

/* ---- contexts ------------------------------------------------------------------------- */

static void begin(void)
{
    has_begun();
    entered->run(entered->argument);
    sim_die("a thread returned from its context");
}

void sim_context_make(struct sim_context *context, void (*run)(void *), void *argument)
{
    memset(context, 0, sizeof(*context));
    context->stack = take_stack();
    context->run = run;
    context->argument = argument;
    prepare(context);
}

void sim_context_enter(struct sim_context *context)
{
    assert(context->stack);
    entered = context;
    will_enter(context);
    change(&main_context, context);
    is_here(&main_context);
}

void sim_context_leave(struct sim_context *context, bool last)
{
    will_leave(context, last);
    change(context, &main_context);
    is_here(context);
}
