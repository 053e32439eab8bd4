/* standalone.c - run a fuzz target over files, and over the files in directories: for
 * compilers without a fuzzer, and for `make check`. Without arguments it takes the target's
 * own corpus, $srcdir/tests/fuzz/corpus/CORPUS. */
#include "config_auto.h"

#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INPUT_MAX (1 << 20)

static unsigned inputs;

static void die(const char *path, const char *what)
{
    fprintf(stderr, "%s: %s\n", path, what);
    exit(EXIT_FAILURE);
}

static void run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(INPUT_MAX);
    if (!file || !data)
        die(path, strerror(errno));
    size_t size = fread(data, 1, INPUT_MAX, file);
    if (ferror(file))
        die(path, "can't be read");
    fclose(file);
    /* In a block of its own size, so that a sanitizer sees a read behind the end. */
    uint8_t *exact = malloc(size > 0 ? size : 1);
    if (!exact)
        die(path, strerror(errno));
    memcpy(exact, data, size);
    free(data);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    inputs++;
}

static void run(const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0)
        die(path, strerror(errno));
    if (!S_ISDIR(status.st_mode)) {
        run_file(path);
        return;
    }
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

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        run(argv[i]);
#ifdef CORPUS
    if (argc == 1) {
        const char *root = getenv("srcdir");
        char path[4096];
        snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/" CORPUS, root ? root : ".");
        run(path);
    }
#endif
    if (inputs == 0)
        die(argv[0], "no inputs; name files or directories of a corpus");
    printf("%s: %u inputs\n", argv[0], inputs);
    return EXIT_SUCCESS;
}
