/* model.c - explores the models of the protocol, a line each. See docs/TESTING.md.
 *
 *   model                every variant; fails if a safe one is not, or a broken one is not
 * caught model --tell TEXT    those whose name has TEXT in it, and how it goes wrong
 */
#include "config_auto.h"

#include "variants.h"

#include <string.h>

static const char *result_of(const struct exploration *found)
{
    return found->wrong ? "caught" : found->complete ? "safe" : "incomplete";
}

static bool play(const struct variant *variant, FILE *story)
{
    struct exploration found = variant_explore(variant, story);
    bool good = variant_as_it_must(variant, &found);
    printf("%-4s %-54s %-10s %8zu states %6.2f s%s%s%s\n", variant->rule ? variant->rule : "",
           variant->name, result_of(&found), found.states, found.seconds,
           found.wrong ? ": " : "", found.wrong ? found.wrong : "",
           good            ? ""
           : variant->rule ? "; NOT CAUGHT"
                           : "; NOT SAFE");
    fflush(stdout);
    return good;
}

int main(int argc, char **argv)
{
    bool good = true, any = false;
    bool telling = argc == 3 && strcmp(argv[1], "--tell") == 0;
    if (argc != 1 && !telling) {
        fprintf(stderr, "usage: model [--tell TEXT]\n");
        return 64;
    }
    for (size_t i = 0; i < variant_count; i++) {
        if (telling && !strstr(variants[i].name, argv[2]))
            continue;
        any = true;
        good &= play(&variants[i], telling ? stdout : NULL);
    }
    return good && any ? 0 : 1;
}
