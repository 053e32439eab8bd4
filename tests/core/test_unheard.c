/* tags: valgrind */
/* test_unheard.c - why a Sentinel gives no word: what systems, TLS and Sentinels say, and what is
 * told of it. */
#include "config_auto.h"

#include "core/refusal.h"
#include "core/unheard.h"
#include "suite.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *text;
    enum rl_unheard unheard;
} texts[] = {
    {"s1:26379: no answer within connect-timeout", RL_UNHEARD_SILENT},
    {"connected, but no answer within connect-timeout", RL_UNHEARD_SILENT},
    {"s1:26379: No route to host", RL_UNHEARD_SILENT},
    {"s1:26379: closed by the server", RL_UNHEARD_SILENT},
    {"s1:26379: Connection refused", RL_UNHEARD_CLOSED},
    {"DENIED Redis is running in protected mode because", RL_UNHEARD_CLOSED},
    {"s1: the name look-up takes too long", RL_UNHEARD_NO_HOST},
    {"ERR max number of clients reached", RL_UNHEARD_FULL},
    {"authentication failed: ERR max number of clients reached", RL_UNHEARD_FULL},
    {"password-file /run/secrets/s: No such file or directory", RL_UNHEARD_UNREAD},
    {"password-env S: this environment variable is not set", RL_UNHEARD_UNREAD},
    {"authentication failed: WRONGPASS invalid username-password pair or user is disabled.",
     RL_UNHEARD_PASSWORD},
    {"authentication failed: ERR AUTH <password> called without any password configured",
     RL_UNHEARD_PASSWORD},
    {"refused SENTINEL MYID (NOAUTH Authentication required.)", RL_UNHEARD_WANTS_PASSWORD},
    {"refused SENTINEL MASTER (NOPERM User a has no permissions to run the 'sentinel|master' "
     "command)",
     RL_UNHEARD_RIGHT},
    {"refused SENTINEL MYID (NOPERM User a has no permissions)", RL_UNHEARD_RIGHT},
    {"refused SENTINEL MYID (ERR Unknown sentinel subcommand 'MYID')", RL_UNHEARD_NO_ID},
    {"refused SENTINEL MYID (ERR unknown command 'SENTINEL')", RL_UNHEARD_NO_SENTINEL},
    {"is a Redis server and no Sentinel", RL_UNHEARD_NO_SENTINEL},
    {"refused SENTINEL MASTER (ERR No such master with that name)", RL_UNHEARD_NO_SERVICE},
    {"refused SENTINEL MASTER (ERR wrong number of arguments)", RL_UNHEARD_ERROR},
    {"TLS: unexpected eof while reading", RL_UNHEARD_TLS},
    {"certificate refused: self-signed certificate", RL_UNHEARD_TLS},
    {"answered something that was not asked for", RL_UNHEARD_ODD},
    {"sent something unasked", RL_UNHEARD_ODD},
    {"Protocol error, got \"H\" as reply type byte", RL_UNHEARD_ODD},
    {"the reply has too many elements", RL_UNHEARD_ODD},
    {"", RL_UNHEARD_SILENT},
};

TEST(unheard, its_kind_is_that_of_its_text, .rows = ROWS(texts))
{
    enum rl_unheard unheard = rl_unheard_of(texts[_i].text);
    ck_assert_msg(unheard == texts[_i].unheard, "%s: %s", texts[_i].text,
                  rl_unheard_words(unheard, false));
}

TEST(unheard, each_failure_of_a_look_up_is_a_names)
{
    static const int codes[] = {EAI_NONAME, EAI_AGAIN, EAI_FAIL, EAI_NODATA};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        ck_assert_int_eq(rl_unheard_of(gai_strerror(codes[i])), RL_UNHEARD_NO_HOST);
}

/* Each has words of its own, and a remedy where somebody can do something. */
TEST(unheard, each_kind_has_words_and_a_remedy, .rows = 2)
{
    char text[128];
    for (unsigned i = 0; i < RL_UNHEARD_KINDS; i++) {
        const char *words = rl_unheard_words(i, _i);
        for (unsigned k = 0; k < i; k++)
            ck_assert_str_ne(words, rl_unheard_words(k, _i));
        snprintf(text, sizeof(text), "%d of 3 Sentinels %s", _i + 1, words);
        ck_assert_msg((rl_refusal_of(text) == NULL) == (i == RL_UNHEARD_ERROR), "%s", text);
    }
}

CASE(unheard)
