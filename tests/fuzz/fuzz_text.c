/* tags: valgrind source */
/* fuzz_text.c - any bytes as text from outside that is read whole: a detached lock's handle,
 * what a master says of itself, a duration. What is refused is refused; what is taken can be
 * written again and is the same.
 *
 * The first byte says which. With a fuzzer: see fuzz.sh. */
#include "config_auto.h"

#include "base/duration.h"
#include "fuzz.h"
#include "kinds/handle_text.h"
#include "core/trust.h"

#include <string.h>

/* The only text of a handle is the one that is written for it. */
static void read_handle(const char *text)
{
    static struct rl_handle handle;
    char again[REDLOCK_HANDLE_MAX];
    int code = rl_handle_decode(text, &handle);
    REQUIRE(code == 0 || code == REDLOCK_EHANDLE);
    if (code != 0)
        return;
    REQUIRE(handle.token_len >= 1 && handle.token_len <= RL_TOKEN_MAX);
    REQUIRE(handle.name_len >= 1 && handle.name_len <= RL_NAMES_BYTES_MAX);
    REQUIRE(rl_handle_encode(&handle, again, sizeof(again)) == 0);
    REQUIRE(strcmp(again, text) == 0);
}

static void require_ended(const char *text, size_t size)
{
    REQUIRE(memchr(text, '\0', size) != NULL);
}

static void read_info(const char *text, size_t len)
{
    struct rl_info info;
    rl_info_parse(text, len, &info);
    require_ended(info.run_id, sizeof(info.run_id));
    require_ended(info.role, sizeof(info.role));
    require_ended(info.version, sizeof(info.version));
    require_ended(info.policy, sizeof(info.policy));
    REQUIRE(info.uptime_s >= -1 && info.maxmemory >= 0);
    const char *unfit = rl_info_unfit(&info), *refusal = rl_info_refusal(&info);
    REQUIRE((!unfit || strlen(unfit) < 160) && (!refusal || strlen(refusal) < 160));
    REQUIRE(rl_guard_wait_ns(30 * RL_NS_PER_S, info.uptime_s, 0) >= 0);
}

static void read_duration(const char *text, size_t len)
{
    char again[RL_DURATION_TEXT_MAX];
    int64_t ms, same;
    if (rl_duration_parse(text, len, &ms) != NULL)
        return;
    REQUIRE(ms >= 0);
    rl_duration_format(ms, again);
    REQUIRE(rl_duration_parse(again, strlen(again), &same) == NULL && same == ms);
}

const char fuzz_corpus[] = "text";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    if (!text)
        return 0;
    size_t len = size - 1;
    if (data[0] % 3 == 0)
        read_handle(text);
    else if (data[0] % 3 == 1)
        read_info(text, len);
    else
        read_duration(text, len);
    free(text);
    return 0;
}
