/* tags: valgrind source */
/* fuzz_tools.c - any bytes as what the programs read: their command lines, and a master's list of
 * its clients; and as a name that is printed as JSON. What is refused is refused, what is taken
 * is within bounds, and JSON is JSON whose name can be read again.
 *
 * The first byte says which; words of a command line are lines. With a fuzzer: see fuzz.sh. */
#include "config_auto.h"

#include "bench/bench.h"
#include "chaos/options.h"
#include "fuzz.h"
#include "json.h"
#include "redlock/cli_options.h"
#include "redlock/status_peers.h"

#include <getopt.h>
#include <string.h>
#include <sysexits.h>

enum { WORDS_MAX = 48, VALUE_MAX = 16384 };

/* redlock-bench is linked as far as its command line goes. */
const struct bench_scenario bench_scenarios[BENCH_SCENARIOS] = {
    {.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}, {.name = "e"}, {.name = "f"},
    {.name = "g"}, {.name = "h"}, {.name = "i"}, {.name = "j"}, {.name = "k"}, {.name = "l"},
    {.name = "m"}, {.name = "n"}, {.name = "o"}, {.name = "p", .private_only = true}};

/* ---- command lines ---------------------------------------------------------------------- */

static int argc;
static char *argv[WORDS_MAX + 2];

static void split(char *text, const char *order)
{
    static char program[] = "program", nothing[] = "nothing";
    argc = 0;
    argv[argc++] = program;
    for (char *rest = text, *word; argc <= WORDS_MAX && (word = strsep(&rest, "\n"));)
        argv[argc++] = word;
    argv[argc] = NULL;
    /* A word that the one before left half read is forgotten, and whether options may stand
     * behind operands. */
    char *none[] = {nothing, NULL};
    optind = 0;
    REQUIRE(getopt(1, none, order) == -1);
}

static void read_redlock(void)
{
    struct cli cli = {.quiet = true};
    int status = cli_options_parse(&cli, argc, argv);
    REQUIRE(status == -1 || status == CLI_OK || status == CLI_USAGE);
    if (status >= 0)
        return;
    REQUIRE(cli.verb != CLI_NONE && (cli.verb & (cli.verb - 1)) == 0);
    REQUIRE(cli.ttl_ms >= 0 && cli.wait_ms >= -1 && cli.grace_ms >= -1);
    REQUIRE(cli.not_acquired >= -1 && cli.not_acquired <= 255);
    REQUIRE(cli.name_count <= REDLOCK_NAMES_MAX && cli.replace <= REDLOCK_NODES_MAX);
    REQUIRE(cli.verb != CLI_RUN || (cli.command && cli.command[0] && cli.name_count > 0));
    for (unsigned i = 0; i < cli.name_count; i++)
        REQUIRE(cli.names[i][0] && strlen(cli.names[i]) <= REDLOCK_NAME_MAX);
}

static void read_chaos(void)
{
    struct chaos_options options;
    optind = 1;
    int status = chaos_options_parse(&options, argc, argv);
    REQUIRE(status == -1 || status == EX_OK || status == EX_USAGE);
    if (status >= 0)
        return;
    REQUIRE(options.clients >= 1 && options.clients <= CHAOS_CLIENTS_MAX);
    REQUIRE(options.names >= 1 && options.names <= CHAOS_NAMES_MAX);
    REQUIRE(options.local <= REDLOCK_NODES_MAX && options.ttl_ms > 0 && options.hold_ms >= 0);
}

static void read_bench(void)
{
    struct bench_options options;
    optind = 1;
    int status = bench_options_parse(&options, argc, argv);
    REQUIRE(status == -1 || status == EX_OK || status == EX_USAGE);
    if (status >= 0)
        return;
    REQUIRE(options.rounds >= 1 && options.slice_ms > 0);
    REQUIRE(options.masters <= REDLOCK_NODES_MAX);
}

/* ---- JSON ------------------------------------------------------------------------------- */

static void require_hex(const char *hex, size_t hex_len, const uint8_t *bytes, size_t len)
{
    char two[3];
    REQUIRE(hex_len == 2 * len);
    for (size_t i = 0; i < len; i++) {
        snprintf(two, sizeof(two), "%02x", bytes[i]);
        REQUIRE(memcmp(hex + 2 * i, two, 2) == 0);
    }
}

static void print_json(const uint8_t *bytes, size_t len)
{
    static char value[VALUE_MAX];
    char *text = NULL;
    size_t size = 0;
    FILE *out = len < VALUE_MAX / 4 ? open_memstream(&text, &size) : NULL;
    if (!out)
        return;
    fputc('{', out);
    cli_json_bytes(out, "name", bytes, len);
    fputc('}', out);
    REQUIRE(fclose(out) == 0);
    REQUIRE(json_valid(text, size));
    long hex_len = json_get(text, size, "name_hex", value, sizeof(value));
    if (hex_len >= 0) {
        require_hex(value, (size_t)hex_len, bytes, len);
    } else {
        REQUIRE(json_get(text, size, "name", value, sizeof(value)) == (long)len);
        REQUIRE(memcmp(value, bytes, len) == 0);
    }
    free(text);
}

/* ---- a list of clients ------------------------------------------------------------------ */

static void read_clients(const char *list, size_t len)
{
    static struct status_peers peers;
    const struct rl_mask mask = {.user_len = 0};
    peers = (struct status_peers){.own = {.nodes = 3, .max_ttl_ms = 30000, .drift_ppm = 10000}};
    status_peers_heard(&peers, 0, list, len, &mask);
    status_peers_heard(&peers, 1, list, len / 2, &mask);
    struct status_lists lists = status_peers_lists(&peers);
    REQUIRE(peers.count <= STATUS_PEERS_MAX && lists.clients <= peers.count);
    for (unsigned i = 0; i < 2; i++) {
        struct status_facts facts = {.odd_clients = 0};
        status_peers_judge(&peers, i, &facts);
        REQUIRE(facts.odd_clients <= lists.clients);
        REQUIRE(memchr(facts.odd, '\0', sizeof(facts.odd)) != NULL);
        for (const char *at = facts.odd; *at; at++)
            REQUIRE((unsigned char)*at >= ' ' && *at != 0x7f);
    }
}

const char fuzz_corpus[] = "tools";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    if (!text)
        return 0;
    size_t len = size - 1;
    if (data[0] % 5 < 3)
        split(text, data[0] % 5 == 1 ? "" : "+");
    if (data[0] % 5 == 0)
        read_redlock();
    else if (data[0] % 5 == 1)
        read_chaos();
    else if (data[0] % 5 == 2)
        read_bench();
    else if (data[0] % 5 == 3)
        print_json(data + 1, len);
    else
        read_clients((const char *)data + 1, len);
    free(text);
    return 0;
}
