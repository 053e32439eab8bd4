/* stats.c - samples, percentiles, medians; clocks, CPU time and memory. */
#include "config_auto.h"

#include "bench/report/stats.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void *or_tell(void *memory)
{
    if (memory == NULL)
        fprintf(stderr, "redlock-bench: out of memory\n");
    return memory;
}

void *bench_zeroed(size_t size)
{
    return or_tell(calloc(1, size));
}

static struct {
    void (*close)(void *what);
    void *what;
} at_end[160];
static size_t at_end_count;

void bench_at_end(void (*close)(void *what), void *what)
{
    assert(at_end_count < sizeof(at_end) / sizeof(at_end[0]));
    at_end[at_end_count].close = close;
    at_end[at_end_count++].what = what;
}

void bench_end_all(void)
{
    while (at_end_count > 0) {
        at_end_count--;
        at_end[at_end_count].close(at_end[at_end_count].what);
    }
}

void *bench_room(size_t size)
{
    void *room = bench_zeroed(size);
    if (room != NULL)
        bench_at_end(free, room);
    return room;
}

bool bench_samples_init(struct bench_samples *samples, size_t capacity)
{
    assert(capacity > 0);
    *samples = (struct bench_samples){.capacity = capacity};
    samples->ns = or_tell(malloc(capacity * sizeof(samples->ns[0])));
    if (samples->ns != NULL)
        bench_at_end(free, samples->ns);
    return samples->ns != NULL;
}

bool bench_samples_init_all(struct bench_samples *samples, size_t count, size_t capacity)
{
    bool fine = true;
    for (size_t i = 0; i < count && fine; i++)
        fine = bench_samples_init(&samples[i], capacity);
    return fine;
}

void bench_samples_clear(struct bench_samples *samples)
{
    samples->count = 0;
    samples->sorted = false;
}

void bench_samples_add(struct bench_samples *samples, int64_t ns)
{
    if (samples->count == samples->capacity)
        return;
    samples->ns[samples->count++] = ns;
    samples->sorted = false;
}

static int compare_ns(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

double bench_percentile_us(struct bench_samples *samples, unsigned per_mille)
{
    assert(per_mille <= 1000);
    if (samples->count == 0)
        return 0;
    if (!samples->sorted) {
        qsort(samples->ns, samples->count, sizeof(samples->ns[0]), compare_ns);
        samples->sorted = true;
    }
    /* The nearest rank: ceil(p * count), counted from 1. */
    size_t rank = (samples->count * per_mille + 999) / 1000;
    return (double)samples->ns[rank > 0 ? rank - 1 : 0] / 1e3;
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

struct bench_summary bench_summarise(double *values, size_t count)
{
    if (count == 0)
        return (struct bench_summary){0};
    qsort(values, count, sizeof(values[0]), compare_doubles);
    double upper = values[count / 2];
    double lower = values[(count - 1) / 2];
    return (struct bench_summary){
        .median = (lower + upper) / 2,
        .min = values[0],
        .max = values[count - 1],
        .count = count,
    };
}

struct bench_summary bench_summary_of(double value)
{
    return (struct bench_summary){.median = value, .min = value, .max = value, .count = 1};
}

double bench_jain(const uint64_t *shares, size_t count)
{
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (double)shares[i];
        squares += (double)shares[i] * (double)shares[i];
    }
    return squares > 0 ? sum * sum / ((double)count * squares) : 0;
}

int64_t bench_now_ns(void)
{
    struct timespec now;
    int result = clock_gettime(CLOCK_MONOTONIC, &now);
    assert(result == 0);
    (void)result;
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void bench_sleep_ms(int64_t ms)
{
    struct timespec left = {.tv_sec = (time_t)(ms / 1000),
                            .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

double bench_cpu_us(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return 0;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* A line "NAME:  123 kB" of /proc/self/status, read without stdio: nothing is allocated. */
static double status_kib(const char *name)
{
    char text[8192];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t got = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (got <= 0)
        return -1;
    text[got] = '\0';
    const char *line = strstr(text, name);
    if (line == NULL)
        return -1;
    return strtod(line + strlen(name), NULL);
}

double bench_rss_kib(void)
{
    return status_kib("\nVmRSS:");
}

double bench_peak_rss_kib(void)
{
    return status_kib("\nVmHWM:");
}
