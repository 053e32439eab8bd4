/* fake_dns.h - a resolver for the tests: programs that link fake_dns.o get its getaddrinfo()
 * for names (numeric addresses go to the real one). Every name has the same answer. */
#ifndef TEST_FAKE_DNS_H
#define TEST_FAKE_DNS_H

#include <stdbool.h>
#include <stddef.h>

/* What it answers from now on: addresses with spaces between them, in this order. */
void fake_dns_answer(const char *addresses);

/* Or an EAI_ error; for EAI_SYSTEM errno is EACCES. */
void fake_dns_fail(int error);

/* While it is held nothing is answered: a resolver whose servers are gone. */
void fake_dns_hold(void);
void fake_dns_release(void);

unsigned fake_dns_calls(void);   /* for names, so far */
unsigned fake_dns_waiting(void); /* threads inside now */
unsigned fake_dns_lent(void);    /* answers that were not freed */
unsigned fake_dns_threads(void); /* of look-ups, by their name (sanitizers have others) */

/* What the thread of the last call was like. */
struct fake_dns_thread {
    char name[16];
    bool blocks_signals; /* all that can be blocked */
    bool detached;
    size_t stack_bytes;
};
struct fake_dns_thread fake_dns_last_thread(void);

#endif
