/* status_rights.c - see status_rights.h. */
#include "config_auto.h"

#include "redlock/status_rights.h"

#include "config/sentinels.h"
#include "kinds/keys.h"
#include "redlock/cli.h"
#include "redlock/status_checks.h"

#include <stdio.h>
#include <string.h>

/* ARGV: how many keys; for each the word that stands for it, and itself; then the commands.
 * Returns for each of them '1' or '0', and '?' where the server can't tell, because it refuses
 * the question. In "A;B" the second is asked where the first is refused; its '0' is 'n'. */
static const char script[] =
    "if not redis.acl_check_cmd then return '' end "
    "local keys, told, first = {}, {}, 2 + 2 * ARGV[1] "
    "for i = 2, first - 1, 2 do keys[ARGV[i]] = ARGV[i + 1] end "
    "for i = first, #ARGV do "
    "  local any, no = '?', '0' "
    "  for commands in string.gmatch(ARGV[i], '[^;]+') do "
    "    for command in string.gmatch(commands, '[^|]+') do "
    "      local argv = {} "
    "      for word in string.gmatch(command, '%S+') do argv[#argv + 1] = keys[word] or word "
    "end "
    "      local known, may = pcall(redis.acl_check_cmd, unpack(argv)) "
    "      if known and any ~= '1' then any = may and '1' or no end "
    "    end "
    "    if any ~= '?' then break end "
    "    no = 'n' "
    "  end "
    "  told[#told + 1] = any "
    "end "
    "return table.concat(told)";

static const char letters[] = "nqBhsmRFbcCQOk";

void status_rights_use(const struct cli *cli, const struct rl_config *config,
                       struct rights_use *ret_use)
{
    *ret_use = (struct rights_use){
        .uses = cli->uses  ? cli->uses
                : cli->acl ? RIGHTS_ALWAYS
                           : RIGHTS_ALL,
        .masters = config->node_count,
        .guard = config->guard != RL_GUARD_OFF,
        .marker = rl_guard_marks(config->guard),
        .strict = config->fencing == REDLOCK_FENCING_STRICT,
        .lists = config->config_agreement != REDLOCK_AGREEMENT_OFF,
    };
    ret_use->sentinels = rl_config_has_sentinels(config);
    for (unsigned i = 0; i < config->node_count; i++)
        ret_use->db = ret_use->db || config->nodes[i].db != 0;
}

bool status_rights_possible(const struct cli *cli, unsigned masters)
{
    if (rights_possible(cli->uses, masters))
        return true;
    cli_say(cli, "--kinds fair: fair locks are for a list of one master, this one has %u",
            masters);
    return false;
}

/* ---- the question ----------------------------------------------------------------------- */

static void put_word(struct rl_out *out, char sort, char letter, const void *key, size_t len)
{
    char word[] = {sort, letter, '\0'};
    rl_put_text(out, word);
    rl_put_bulk(out, key, len);
}

static void put_keys(struct rl_out *out, const struct rl_target *target)
{
    static const char wake[] = RL_WAKE_PREFIX "x";
    char key[RL_KEY_MAX];
    for (const char *letter = letters; *letter; letter++) {
        size_t len = rl_key_text(*letter, target, key);
        put_word(out, '~', *letter, key, len);
        if (strchr("cC", *letter))
            put_word(out, '&', *letter, key, len);
    }
    put_word(out, '&', 'w', wake, sizeof(wake) - 1);
}

bool status_rights_request(const char *prefix, char ret_request[STATUS_RIGHTS_REQUEST_MAX])
{
    char name[REDLOCK_NAME_MAX + 1];
    struct rl_out out;
    int len = snprintf(name, sizeof(name), "%srights", prefix ? prefix : RL_PROBE_PREFIX);
    if (len < 0 || (size_t)len >= sizeof(name))
        return false;
    const struct rl_target target = {.name = name, .name_len = (size_t)len, .owner = ""};
    unsigned keys = (unsigned)sizeof(letters) - 1 + 3;
    rl_out_init(&out, ret_request, STATUS_RIGHTS_REQUEST_MAX - 1);
    rl_put_array(&out, 3 + 1 + 2 * keys + rights_count());
    rl_put_text(&out, "EVAL");
    rl_put_text(&out, script);
    rl_put_number(&out, 0);
    rl_put_number(&out, keys);
    put_keys(&out, &target);
    for (unsigned i = 0; i < rights_count(); i++)
        rl_put_text(&out, rights_command(i));
    ret_request[out.overflow ? 0 : out.len] = '\0';
    return !out.overflow;
}

/* ---- the answer ------------------------------------------------------------------------- */

void status_rights_heard(struct status_rights *rights, const char *answer, size_t len)
{
    if (len == 0) {
        snprintf(rights->why, sizeof(rights->why),
                 "it does not tell rights to scripts; Redis 7.0 does");
        return;
    }
    rights->known = len == rights_count() && strspn(answer, "01?n") >= len;
    if (rights->known)
        memcpy(rights->may, answer, len);
    else
        snprintf(rights->why, sizeof(rights->why), "its answer about rights is none");
}

void status_rights_refused(struct status_rights *rights, const char *why)
{
    rights->denied = strncmp(why, "NOPERM", 6) == 0;
    snprintf(rights->why, sizeof(rights->why), "%s", why);
}

/* The uses for which this right is missing; 0: it is not. */
static unsigned lacking(const struct status_rights *rights, unsigned right,
                        const struct rights_use *use)
{
    if (!strchr("0n", rights->may[right]) || rights_hidden(right, rights->may))
        return 0;
    return rights_needed(right, use);
}

bool status_rights_lack(const struct status_rights *rights, const char *right)
{
    for (unsigned i = 0; rights->known && i < rights_count(); i++) {
        if (strchr("0n", rights->may[i]) && strcmp(rights_text(i).text, right) == 0)
            return true;
    }
    return false;
}

/* ---- what it means ---------------------------------------------------------------------- */

struct line {
    char text[sizeof(((struct status_check *)0)->reason)];
    size_t len;
};

static void add(struct line *line, const char *between, const char *word)
{
    size_t room = sizeof(line->text) - line->len;
    int len = snprintf(line->text + line->len, room, "%s%s", between, word);
    if (len >= 0 && (size_t)len < room)
        line->len += (size_t)len;
    else
        line->text[line->len] = '\0'; /* JSON has them all */
}

/* A word may stand in the line already. */
static void add_once(struct line *line, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = line->text; (at = strstr(at, word)); at += len) {
        if (at[len] == '\0' || at[len] == ' ')
            return;
    }
    add(line, " ", word);
}

/* What is missing for these uses. */
static void add_missing(struct line *line, const struct status_rights *rights,
                        const struct rights_use *use, unsigned uses)
{
    for (unsigned i = 0; i < rights_count(); i++) {
        if (lacking(rights, i, use) & uses)
            add_once(line, rights_text(i).text);
    }
}

static unsigned uses_lacking(const struct status_rights *rights, const struct rights_use *use,
                             bool but_spared)
{
    unsigned uses = 0;
    for (unsigned i = 0; i < rights_count(); i++) {
        if (!but_spared || !rights_spared(i))
            uses |= lacking(rights, i, use);
    }
    return uses;
}

/* Locks are taken by SET and GET; scripts extend and release them. */
static bool is_trap(const struct status_rights *rights, const struct rights_use *use)
{
    static const char *const of_release[] = {"+evalsha", "+get", "+del", "~{NAME}:redlock:queue"};
    static const char *const of_taking[] = {"+set", "~NAME"};
    bool takes = true, releases = true;
    for (unsigned i = 0; i < rights_count(); i++) {
        struct rights_text right = rights_text(i);
        if (!lacking(rights, i, use))
            continue;
        for (size_t k = 0; k < sizeof(of_taking) / sizeof(of_taking[0]); k++)
            takes = takes && strcmp(right.text, of_taking[k]) != 0;
        for (size_t k = 0; k < sizeof(of_release) / sizeof(of_release[0]); k++)
            releases = releases && strcmp(right.text, of_release[k]) != 0;
    }
    return takes && !releases;
}

static const char trap[] =
    "locks can be taken there and not released: they stay until their leases are over";

static void fail(struct status_check *check, const char *what, const char *lacks)
{
    check->result = STATUS_FAIL;
    snprintf(check->reason, sizeof(check->reason), "%s; the user lacks%.*s", what,
             (int)(sizeof(check->reason) - 128), lacks);
    check->remedy = "give the user what redlock status --acl prints for these kinds of locks";
}

/* `named`: --kinds has named the uses; without it the ACL of plain locks lacks what is warned
 * of. */
static void warn(const struct status_rights *rights, const struct rights_use *use, bool named,
                 unsigned uses, struct status_check *check)
{
    struct line line = {.len = 0};
    const char *between = "no rights for ";
    for (unsigned i = 0; i < RIGHTS_USES; i++) {
        if (!(uses & 1U << i))
            continue;
        add(&line, between, rights_word(i));
        between = ", ";
    }
    add(&line, ":", "");
    add_missing(&line, rights, use, uses);
    check->result = STATUS_WARN;
    memcpy(check->reason, line.text, sizeof(check->reason));
    check->remedy = named ? "give the user what redlock status --acl prints for these --kinds"
                          : "give the user what redlock status --acl --kinds all prints, or "
                            "name the kinds in use: --kinds plain, or status-kinds "
                            "in the node list";
}

/* The server has refused the question about these. */
static void note_unknown(const struct status_rights *rights, const struct rights_use *use,
                         struct status_check *check)
{
    struct line line = {.len = 0};
    for (unsigned i = 0; i < rights_count(); i++) {
        if (rights->may[i] == '?' && rights_needed(i, use))
            add_once(&line, rights_text(i).text);
    }
    if (line.len == 0)
        return;
    check->result = STATUS_UNKNOWN;
    snprintf(check->reason, sizeof(check->reason), "it does not tell whether the user has%.*s",
             (int)sizeof(check->reason) - 64, line.text);
}

void status_rights_check(const struct status_rights *rights, const struct rights_use *use,
                         bool named, bool takes, struct status_check *ret_check)
{
    struct line missing = {.len = 0};
    unsigned must = named ? use->uses & ~(unsigned)(RIGHTS_WAKE | RIGHTS_CONNECT |
                                                    RIGHTS_STATUS | RIGHTS_INIT)
                          : RIGHTS_PLAIN;
    if (rights->denied) {
        fail(ret_check, takes ? trap : "locks can't be taken, extended or released there",
             " +eval");
        return;
    }
    if (!rights->known) {
        ret_check->result = *rights->why ? STATUS_UNKNOWN : STATUS_NONE;
        snprintf(ret_check->reason, sizeof(ret_check->reason), "%s", rights->why);
        return;
    }
    unsigned uses = uses_lacking(rights, use, false);
    if (!uses)
        note_unknown(rights, use, ret_check);
    unsigned lost = uses_lacking(rights, use, true) & must;
    if (uses && !lost)
        warn(rights, use, named, uses, ret_check);
    if (!lost)
        return;
    add_missing(&missing, rights, use, lost);
    fail(ret_check,
         is_trap(rights, use)  ? trap
         : lost & RIGHTS_PLAIN ? "locks can't be had or extended there"
                               : "locks of kinds in use can't be had there",
         missing.text);
}

/* ---- JSON ------------------------------------------------------------------------------- */

void status_rights_json(const struct status_rights *rights, const struct rights_use *use)
{
    if (!rights->known)
        return;
    const char *comma = ",\"rights\":{";
    for (unsigned number = 0; number < RIGHTS_USES; number++) {
        struct line line = {.len = 0};
        if (!(use->uses & 1U << number) || (use->masters > 1 && 1U << number == RIGHTS_FAIR))
            continue;
        add_missing(&line, rights, use, 1U << number);
        printf("%s\"%s\":[", comma, rights_word(number));
        for (char *rest = line.text, *word; (word = strtok_r(rest, " ", &rest));)
            printf("%s\"%s\"", word == line.text + 1 ? "" : ",", word);
        putchar(']');
        comma = ",";
    }
    putchar('}');
}
