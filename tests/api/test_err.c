/* test_err.c - error codes: names, texts and numbers that never change; and the version,
 * which has one source. */
#include "config_auto.h"

#include "suite.h"

#include <redlock.h>

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const struct {
    int code;
    const char *name;
    const char *text;
} listed[] = {
#define ROW(name, value, text) {REDLOCK_##name, "REDLOCK_" #name, text},
    REDLOCK_ERRORS(ROW)
#undef ROW
};
#define LISTED ((int)(sizeof(listed) / sizeof(listed[0])))

TEST(codes, every_code_has_its_name_and_text, .rows = LISTED)
{
    ck_assert_str_eq(redlock_err_name(listed[_i].code), listed[_i].name);
    ck_assert_str_eq(redlock_strerror(listed[_i].code), listed[_i].text);
}

/* Sentences follow them ("name: text"): no capital, no full stop, and each says its own. */
TEST(codes, texts_are_parts_of_sentences, .rows = LISTED)
{
    const char *text = listed[_i].text;
    ck_assert_uint_gt(strlen(text), 5);
    ck_assert(text[0] >= 'a' && text[0] <= 'z');
    ck_assert_int_ne(text[strlen(text) - 1], '.');
    for (int k = 0; k < LISTED; k++) {
        if (k != _i) {
            ck_assert_str_ne(text, listed[k].text);
            ck_assert_str_ne(listed[_i].name, listed[k].name);
        }
    }
}

TEST(codes, codes_are_appended_only)
{
    for (int i = 0; i < LISTED; i++)
        ck_assert_int_eq(listed[i].code, -1 - i);
}

/* Programs were compiled with these numbers: a new row is fine, a changed one is not. */
TEST(codes, codes_are_never_renumbered)
{
    static const char *const order[] = {
        "EINVAL",    "ENOMEM",    "ECONFIG",  "ESYSTEM",  "ERANDOM",
        "EHELD",     "ENOQUORUM", "EEXPIRED", "ENOTHELD", "EUNCONFIRMED",
        "ECANCELED", "EFORK",     "EDEADLK",  "EHANDLE",  "EBUSY",
    };
    for (int i = 0; i < (int)(sizeof(order) / sizeof(order[0])); i++)
        ck_assert_str_eq(redlock_err_name(-1 - i) + strlen("REDLOCK_"), order[i]);
}

TEST(codes, success_and_numbers_that_are_no_codes)
{
    static const int unknown[] = {1, 2, 255, -1 - LISTED, -100, -1000, INT_MIN, INT_MAX};
    ck_assert_str_eq(redlock_strerror(REDLOCK_OK), "success");
    ck_assert_str_eq(redlock_err_name(REDLOCK_OK), "REDLOCK_OK");
    ck_assert_int_eq(REDLOCK_OK, 0);
    for (unsigned i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        ck_assert_str_eq(redlock_strerror(unknown[i]), "unknown error code");
        ck_assert_str_eq(redlock_err_name(unknown[i]), "REDLOCK_?");
    }
}

TEST(header, one_version)
{
    char text[64];
    snprintf(text, sizeof(text), "%d.%d.%d", REDLOCK_VERSION_MAJOR, REDLOCK_VERSION_MINOR,
             REDLOCK_VERSION_PATCH);
    ck_assert_str_eq(REDLOCK_VERSION, text);
    ck_assert_str_eq(REDLOCK_VERSION, PACKAGE_VERSION); /* configure's */
    ck_assert_str_eq(redlock_version(), REDLOCK_VERSION);
}

/* A struct that was initialised the documented way knows its size and asks for nothing. */
TEST(header, structs_begin_with_their_size)
{
    redlock_error error = REDLOCK_ERROR_INIT;
    redlock_node node = REDLOCK_NODE_INIT;
    redlock_config config = REDLOCK_CONFIG_INIT;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_node no_node = {.size = sizeof(no_node)};
    ck_assert_uint_eq(error.size, sizeof(error));
    ck_assert_int_eq(error.code, 0);
    ck_assert_str_eq(error.text, "");
    ck_assert_mem_eq(&node, &no_node, sizeof(node));
    ck_assert_uint_eq(options.size, sizeof(options));
    ck_assert_int_eq(options.kind, REDLOCK_PLAIN);
    ck_assert_int_eq(options.ttl_ms | options.wait_ms, 0);
    ck_assert_ptr_null(options.report);
    ck_assert_uint_eq(config.size, sizeof(config));
    ck_assert_int_eq(config.log_level, REDLOCK_LOG_DEFAULT);
    ck_assert_ptr_null(config.file);
    ck_assert_ptr_null(config.nodes);
    ck_assert_ptr_null(config.client_name);
    ck_assert(!config.log && !config.log_context);
    ck_assert_uint_eq(config.node_count, 0);
    ck_assert_int_eq(config.max_ttl_ms | config.ttl_ms | config.node_timeout_ms |
                         config.connect_timeout_ms | config.stall_limit_ms | config.linger_ms,
                     0);
    ck_assert(config.drift_factor == 0.0);
    ck_assert_int_eq(config.guard, 0);
    ck_assert_int_eq(config.background, 0);
}
