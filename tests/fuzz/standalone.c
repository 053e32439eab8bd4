/* standalone.c - run a fuzz target over files, over the files in directories and over those in
 * tar archives: for compilers without a fuzzer, and for `make check`. Without arguments it
 * takes the target's own corpus, $srcdir/tests/fuzz/corpus/NAME.tar. */
#include "config_auto.h"

#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { INPUT_MAX = 1 << 20, BLOCK = 512 };

static unsigned inputs;

static void die(const char *path, const char *what)
{
    fprintf(stderr, "%s: %s\n", path, what);
    exit(EXIT_FAILURE);
}

static FILE *open_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        die(path, strerror(errno));
    return file;
}

/* The next bytes of a file, at most `size`, in a block of their own size: so a sanitizer sees a
 * read behind the end. */
static void run_bytes(FILE *file, const char *path, size_t size)
{
    uint8_t *data = malloc(size > 0 ? size : 1);
    if (!data)
        die(path, strerror(errno));
    if (fread(data, 1, size, file) != size)
        die(path, "can't be read, or ends too early");
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    inputs++;
}

/* The files of a ustar archive: a block with name, size and kind before each. */
static void run_archive(const char *path)
{
    FILE *file = open_file(path);
    char head[BLOCK];
    while (fread(head, 1, BLOCK, file) == BLOCK && head[0] != '\0') {
        char kind = head[156];
        char *end;
        head[124 + 11] = '\0';
        unsigned long size = strtoul(head + 124, &end, 8);
        if (memcmp(head + 257, "ustar", 5) != 0 || *end != '\0' || size > INPUT_MAX)
            die(path, "is no archive of inputs");
        if (kind == '0')
            run_bytes(file, path, size);
        if (fseek(file, kind == '0' ? (long)((BLOCK - size % BLOCK) % BLOCK) : 0, SEEK_CUR) < 0)
            die(path, strerror(errno));
    }
    fclose(file);
}

static bool ends_with(const char *path, const char *end)
{
    size_t len = strlen(path), end_len = strlen(end);
    return len >= end_len && strcmp(path + len - end_len, end) == 0;
}

static void run(const char *path);

static void run_directory(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0)
        die(path, strerror(errno));
    for (int i = 0; i < count; i++) {
        char below[4096];
        int len = snprintf(below, sizeof(below), "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && len < (int)sizeof(below))
            run(below);
        free(entries[i]);
    }
    free(entries);
}

static void run(const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0)
        die(path, strerror(errno));
    if (S_ISDIR(status.st_mode)) {
        run_directory(path);
    } else if (ends_with(path, ".tar")) {
        run_archive(path);
    } else if (status.st_size > INPUT_MAX) {
        die(path, "is longer than any input");
    } else {
        FILE *file = open_file(path);
        run_bytes(file, path, (size_t)status.st_size);
        fclose(file);
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        run(argv[i]);
    if (argc == 1) {
        const char *root = getenv("srcdir");
        char path[4096];
        snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s.tar", root ? root : ".",
                 fuzz_corpus);
        run(path);
    }
    if (inputs == 0)
        die(argv[0], "no inputs; name files, directories or archives of a corpus");
    printf("%s: %u inputs\n", argv[0], inputs);
    return EXIT_SUCCESS;
}
