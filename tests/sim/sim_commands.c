/* sim_commands.c - a command on its way through a model master: looked up, checked in Redis's
 * own order, refused or run. */
#include "config_auto.h"

#include "sim_master_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

const char sim_wrong_type[] =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
const char sim_not_integer[] = "ERR value is not an integer or out of range";
const char sim_not_float[] = "ERR value is not a valid float";
const char sim_syntax[] = "ERR syntax error";

static const struct sim_command *const tables[] = {sim_commands_talk, sim_commands_keys,
                                                 sim_commands_lists};

/* The command of that name; of a name with a bar, the subcommand. */
static const struct sim_command *find(const struct sim_server *server, const struct sim_word *name,
                                      const struct sim_word *sub)
{
    int first = name->len > 0 ? tolower((unsigned char)name->bytes[0]) : 0;
    size_t tables_of = server->sentinel ? 1 : sizeof(tables) / sizeof(tables[0]);
    for (size_t t = 0; t < tables_of; t++) {
        const struct sim_command *command = server->sentinel ? sim_commands_sentinel : tables[t];
        for (; command->name; command++) {
            if (command->name[0] != first ||
                strncasecmp(command->name, name->bytes, name->len) != 0)
                continue;
            const char *rest = command->name + name->len;
            if (sub ? *rest == '|' && sim_word_is(sub, rest + 1) : *rest == '\0')
                return command;
        }
    }
    return NULL;
}

static bool has_subcommands(const struct sim_word *name)
{
    return sim_word_is(name, "client") || sim_word_is(name, "script") ||
           sim_word_is(name, "sentinel");
}

/* Redis's words for a command that it does not know. */
static void say_unknown(struct sim_call *call)
{
    char text[512], args[192] = "";
    size_t used = 0;
    const struct sim_word *name = &call->word[0];
    if (has_subcommands(name) && (call->server->sentinel || !sim_word_is(name, "sentinel"))) {
        char upper[16] = "";
        for (size_t i = 0; i < name->len && i < sizeof(upper) - 1; i++)
            upper[i] = (char)toupper((unsigned char)name->bytes[i]);
        snprintf(text, sizeof(text), "ERR unknown subcommand '%.128s'. Try %s HELP.",
                 call->word[1].bytes, upper);
    } else {
        for (unsigned i = 1; i < call->words && used < 128; i++)
            used += (size_t)snprintf(args + used, sizeof(args) - used, "'%.*s' ",
                                     128 - (int)used, call->word[i].bytes);
        snprintf(text, sizeof(text),
                 "ERR unknown command '%.128s', with args beginning with: %s", name->bytes,
                 args);
    }
    for (char *c = text; *c; c++) {
        if (*c == '\r' || *c == '\n')
            *c = ' ';
    }
    sim_put_error(call->out, text);
}

static void say_arity(struct sim_call *call)
{
    char text[96];
    snprintf(text, sizeof(text), "ERR wrong number of arguments for '%s' command",
             call->command->name);
    sim_put_error(call->out, text);
}

static void say_subscriber(struct sim_call *call)
{
    char text[192];
    snprintf(text, sizeof(text),
             "ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / "
             "RESET are allowed in this context",
             call->command->name);
    sim_put_error(call->out, text);
}

static bool arity_fits(const struct sim_call *call)
{
    int wanted = call->command->arity;
    return wanted > 0 ? call->words == (unsigned)wanted : call->words >= (unsigned)-wanted;
}

void sim_command_run(struct sim_call *call)
{
    static const struct sim_command evalsha = {"evalsha", -3, SIM_STALE | SIM_SCRIPTING,
                                               sim_run_evalsha};
    const struct sim_word *name = &call->word[0];
    if (name->len == 7 && sim_word_is(name, "evalsha") && !call->server->sentinel)
        call->command = &evalsha; /* nearly all are */
    else
        call->command = find(call->server, name,
                             call->words > 1 && has_subcommands(name) ? &call->word[1] : NULL);
    const struct sim_command *command = call->command;
    if (!command) {
        say_unknown(call);
        return;
    }
    if (!arity_fits(call)) {
        say_arity(call);
        return;
    }
    if (!call->session->authenticated && !(command->flags & SIM_NO_AUTH)) {
        sim_put_error(call->out, "NOAUTH Authentication required.");
        return;
    }
    const char *refusal = sim_trouble_refuses(call, command->flags, false);
    if (refusal) {
        sim_put_error(call->out, refusal);
        return;
    }
    if (call->session->channels > 0 && !(command->flags & SIM_IN_SUBSCRIBER)) {
        say_subscriber(call);
        return;
    }
    call->name = command->name;
    command->run(call);
}
