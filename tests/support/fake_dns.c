/* fake_dns.c - see fake_dns.h. */
#include "config_auto.h"

#include "fake_dns.h"

#include "suite.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static char answer[512];
static int failure;
static bool held;
static unsigned calls, waiting, lent;
static struct fake_dns_thread last_thread;

/* Marks the entries that are ours to free. */
static char ours[] = "fake";

struct entry {
    struct addrinfo info;
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address;
};

static void observe_thread(void)
{
    pthread_attr_t attributes;
    sigset_t mask;
    pthread_getname_np(pthread_self(), last_thread.name, sizeof(last_thread.name));
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    last_thread.blocks_signals = true;
    for (int number = 1; number < SIGRTMAX; number++) {
        bool possible = number != SIGKILL && number != SIGSTOP &&
                        (number < 32 || number >= SIGRTMIN); /* the rest is glibc's own */
        if (possible && !sigismember(&mask, number))
            last_thread.blocks_signals = false;
    }
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        int state;
        pthread_attr_getdetachstate(&attributes, &state);
        last_thread.detached = state == PTHREAD_CREATE_DETACHED;
        pthread_attr_getstacksize(&attributes, &last_thread.stack_bytes);
        pthread_attr_destroy(&attributes);
    }
}

static struct addrinfo *new_entry(const char *text, const char *service)
{
    struct entry *entry = calloc(1, sizeof(*entry));
    if (!entry)
        suite_die("out of memory");
    in_port_t port = htons((in_port_t)strtoul(service, NULL, 10));
    entry->info.ai_canonname = ours;
    entry->info.ai_socktype = SOCK_STREAM;
    entry->info.ai_addr = &entry->address.any;
    if (inet_pton(AF_INET, text, &entry->address.v4.sin_addr) == 1) {
        entry->address.v4.sin_family = AF_INET;
        entry->address.v4.sin_port = port;
        entry->info.ai_addrlen = sizeof(entry->address.v4);
    } else if (inet_pton(AF_INET6, text, &entry->address.v6.sin6_addr) == 1) {
        entry->address.v6.sin6_family = AF_INET6;
        entry->address.v6.sin6_port = port;
        entry->info.ai_addrlen = sizeof(entry->address.v6);
    } else {
        suite_die("%s is no address", text);
    }
    entry->info.ai_family = entry->address.any.sa_family;
    return &entry->info;
}

static struct addrinfo *build(const char *service)
{
    char copy[sizeof(answer)];
    char *rest = copy, *text;
    struct addrinfo *first = NULL, **end = &first;
    snprintf(copy, sizeof(copy), "%s", answer);
    while ((text = strsep(&rest, " ")) != NULL) {
        if (!*text)
            continue;
        *end = new_entry(text, service);
        end = &(*end)->ai_next;
    }
    return first;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **ret_found)
{
    if (hints && (hints->ai_flags & AI_NUMERICHOST)) {
        int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
        *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
        return real(node, service, hints, ret_found);
    }
    pthread_mutex_lock(&lock);
    calls++;
    waiting++;
    observe_thread();
    while (held)
        pthread_cond_wait(&released, &lock);
    waiting--;
    int error = failure;
    if (!error) {
        *ret_found = build(service);
        lent++;
    }
    pthread_mutex_unlock(&lock);
    errno = EACCES;
    return error;
}

void freeaddrinfo(struct addrinfo *found)
{
    if (!found || found->ai_canonname != ours) {
        void (*real)(struct addrinfo *);
        *(void **)&real = dlsym(RTLD_NEXT, "freeaddrinfo");
        real(found);
        return;
    }
    while (found) {
        struct addrinfo *next = found->ai_next;
        free((struct entry *)(void *)found);
        found = next;
    }
    pthread_mutex_lock(&lock);
    lent--;
    pthread_mutex_unlock(&lock);
}

void fake_dns_answer(const char *addresses)
{
    pthread_mutex_lock(&lock);
    snprintf(answer, sizeof(answer), "%s", addresses);
    failure = 0;
    pthread_mutex_unlock(&lock);
}

void fake_dns_fail(int error)
{
    pthread_mutex_lock(&lock);
    failure = error;
    pthread_mutex_unlock(&lock);
}

static void set_held(bool now)
{
    pthread_mutex_lock(&lock);
    held = now;
    pthread_cond_broadcast(&released);
    pthread_mutex_unlock(&lock);
}

void fake_dns_hold(void)
{
    set_held(true);
}

void fake_dns_release(void)
{
    set_held(false);
}

static unsigned get(const unsigned *value)
{
    pthread_mutex_lock(&lock);
    unsigned now = *value;
    pthread_mutex_unlock(&lock);
    return now;
}

unsigned fake_dns_calls(void)
{
    return get(&calls);
}

unsigned fake_dns_waiting(void)
{
    return get(&waiting);
}

unsigned fake_dns_lent(void)
{
    return get(&lent);
}

unsigned fake_dns_threads(void)
{
    unsigned count = 0;
    const struct dirent *entry;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        suite_die("no /proc");
    while ((entry = readdir(tasks)) != NULL) {
        char path[300], name[32] = "";
        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "re");
        if (!file)
            continue;
        if (fgets(name, sizeof(name), file) && strcmp(name, "redlock-dns\n") == 0)
            count++;
        fclose(file);
    }
    closedir(tasks);
    return count;
}

struct fake_dns_thread fake_dns_last_thread(void)
{
    pthread_mutex_lock(&lock);
    struct fake_dns_thread copy = last_thread;
    pthread_mutex_unlock(&lock);
    return copy;
}
