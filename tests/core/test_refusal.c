/* test_refusal.c - what servers, TLS, name servers and the system say, and what helps: a text
 * for each row of the table, as it comes. */
#include "config_auto.h"

#include "core/refusal.h"
#include "suite.h"

#include <errno.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <string.h>

/* In the order of the table. The remedy has these words. */
static const struct text {
    const char *text;
    enum rl_refusal_class class;
    const char *remedy;
} texts[] = {
#define PASSES(text, remedy) {text, RL_REFUSAL_PASSES, remedy}
#define LASTS(text, remedy) {text, RL_REFUSAL_LASTS, remedy}
    PASSES("authentication failed: ERR max number of clients reached", "raise maxclients"),
    PASSES("OOM command not allowed when used memory > 'maxmemory'.", "maxmemory"),
    PASSES("MISCONF Errors writing to the AOF file: No space left on device", "disk"),
    PASSES("NOREPLICAS Not enough good replicas to write.", "min-replicas-to-write 0"),
    PASSES("LOADING Redis is loading the dataset in memory", "loaded its keys"),
    PASSES("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN "
           "NOSAVE.",
           "SCRIPT KILL"),
    LASTS("DENIED Redis is running in protected mode because protected mode is enabled and no "
          "password is set for the default user.",
          "passwords"),
    LASTS(
        "authentication failed: WRONGPASS invalid username-password pair or user is disabled.",
        "the user and the password of this master"),
    LASTS("authentication failed: ERR invalid password", "the user and the password"),
    LASTS("NOAUTH Authentication required.", "password-file=FILE"),
    LASTS("authentication failed: ERR AUTH <password> called without any password configured "
          "for the default user. Are you sure your configuration is correct?",
          "wants no password"),
    LASTS("authentication failed: ERR wrong number of arguments for 'auth' command",
          "no users"),
    LASTS("password-file /run/secrets/redis: No such file or directory", "into that file"),
    LASTS("password-env REDIS: this environment variable is not set", "this variable"),
    LASTS("the URL's password has a NUL byte in it; a password is text", "password-file=FILE"),
    LASTS("database 3: ERR SELECT is not allowed in cluster mode", "independent masters"),
    LASTS("database 16: ERR DB index is out of range", "`databases`"),
    LASTS("database 16: ERR invalid DB index", "`databases`"),
    LASTS("INFO was refused, so a restart could not be seen: no vote (NOPERM User x has no "
          "permissions to run the 'info' command)",
          "allow the user INFO"),
    LASTS("ERR Unknown Redis command called from script (PUBLISH in plain_release)",
          "rename-command"),
    LASTS("ERR unknown command 'EVAL', with args beginning with: 'local'", "rename-command"),
    LASTS("ERR unsupported command 'info'", "Changing the list"),
    LASTS("ERR Error running script: Write commands not allowed after non deterministic "
          "commands. Call redis.replicate_commands() at the start of your script (SET in x)",
          "lua-replicate-commands yes"),
    LASTS("ERR script tried accessing undeclared key", "allow-undeclared-keys"),
    LASTS("NOPERM No permissions to access a key", "--prefix"),
    LASTS("NOPERM this user has no permissions to access one of the keys used as arguments",
          "--prefix"),
    LASTS("may not use the channels redlock:wake:*", "allow the user the channels"),
    LASTS("NOPERM No permissions to access a channel", "allow the user the channels"),
    LASTS("NOPERM this user has no permissions to access one of the channels used as arguments",
          "allow the user the channels"),
    LASTS("ERR ACL failure in script: User locks has no permissions to run the 'del' command "
          "(DEL in plain_release)",
          "under permissions"),
    LASTS("ERR The user executing the script can't run this command or subcommand (DEL in x)",
          "under permissions"),
    LASTS("NOPERM User locks has no permissions to run the 'set' command", "under permissions"),
    LASTS("CROSSSLOT Keys in request don't hash to the same slot", "independent masters"),
    LASTS("MOVED 3999 127.0.0.1:6381", "independent masters"),
    LASTS("CLUSTERDOWN Hash slot not served", "independent masters"),
    LASTS("is a member of a Redis Cluster, whose keys move to other members and to replicas: "
          "name an independent server, new and empty, instead",
          "independent masters"),
    LASTS("is a Sentinel, which keeps no keys: name independent masters instead",
          "independent"),
    LASTS("evicts keys, and locks with them: set maxmemory-policy noeviction, and restart it",
          "restart it"),
    LASTS("INFO names no run_id, so a restart could not be seen: no vote", "no proxy"),
    LASTS("two servers answer under this name: INFO and the marker are not of one",
          "restart that one"),
    LASTS("libredlock:marker is another program's, so lost keys could not be seen: no vote",
          "whose that key is"),
    LASTS("ERR libredlock:lists has what is no list of nodes", "whose that key is"),
    LASTS("its clients' lists of nodes can't be compared (WRONGTYPE Operation against a key",
          "libredlock:lists"),
    LASTS("1 of 3 Sentinels answers at a name that leads to several", "a pod's"),
    LASTS("2 of 3 Sentinels are named twice", "different Sentinels"),
    LASTS("2 of 3 Sentinels tell no id (SENTINEL MYID)", "since 6.2"),
    LASTS("1 of 3 Sentinels doesn't answer, 2 refuse the password", "sentinel-password-file="),
    LASTS("2 of 3 Sentinels want a password", "sentinel-password-file="),
    LASTS("1 of 3 Sentinels has a password that can't be read", "sentinel-password-file="),
    LASTS("2 of 3 Sentinels refuse a right", "+sentinel|myid"),
    LASTS("2 of 3 Sentinels know no service of this name", "sentinel monitor"),
    LASTS("2 of 3 Sentinels are another kind of server", "26379"),
    LASTS("2 of 3 Sentinels answer unlike a Sentinel", "26379"),
    PASSES("1 of 3 Sentinels refuses the password, 1 doesn't answer", "sentinel-user="),
    PASSES("1 of 3 Sentinels wants a password, 1 doesn't answer", "sentinel-user="),
    PASSES("1 of 3 Sentinels refuses a right, 1 doesn't answer", "+sentinel|myid"),
    PASSES("2 of 3 Sentinels told no uptime (INFO), and were met less than max-ttl ago", "+info"),
    PASSES("1 of 3 Sentinels knows no service of this name", "sentinel monitor"),
    PASSES("1 of 3 Sentinels is another kind of server, 1 doesn't answer", "26379"),
    PASSES("1 of 3 Sentinels answers unlike a Sentinel, 1 doesn't answer", "26379"),
    PASSES("2 of 3 Sentinels can't be spoken to by TLS", "sentinel-tls=off"),
    PASSES("1 of 3 Sentinels is not found by its name, 1 doesn't answer", "name server"),
    PASSES("2 of 3 Sentinels are not found by their names", "name server"),
    PASSES("2 of 3 Sentinels have too many clients", "raise maxclients"),
    PASSES("1 of 3 Sentinels refuses connections, 1 doesn't answer", "start them"),
    PASSES("2 of 3 Sentinels refuse connections", "start them"),
    PASSES("2 of 3 Sentinels don't answer", "let this machine reach them"),
    PASSES("1 of 3 Sentinels doesn't answer, 1 names 10.0.0.1:6379 (term 7)", "reach them"),
    PASSES("knows of a later failover than its Sentinels: no vote until they do",
           "reach each other"),
    PASSES("127.0.0.2:6379, another address of its name, does not show the same server: no vote",
           "by one address"),
    LASTS("its name has more than 8 addresses: no vote", "by one address"),
    PASSES("loading its data set", "loaded its keys"),
    PASSES("tells no uptime (was its clock set back behind its start?), so each new client "
           "waits for max-ttl: its vote is withheld by the restart guard",
           "stop that server"),
    PASSES("restarted less than max-ttl ago: its vote is withheld by the restart guard", NULL),
    PASSES("was a replica or loaded its keys anew less than max-ttl ago: its vote is withheld",
           NULL),
    PASSES("may have taken the place of another server less than max-ttl ago: its vote is",
           NULL),
    LASTS("is the same server as node 1 of the list", "once"),
    LASTS("the release's message did not come (PUBLISH)", "allow the user PUBLISH"),
    LASTS("could not enter the queue of waiters (TIME, ZADD, ZRANK, PEXPIRE)",
          "these commands"),

    LASTS("10.0.0.1:6380: certificate refused: certificate has expired", "renew that master's"),
    LASTS("10.0.0.1:6380: certificate refused: certificate is not yet valid", "clock"),
    LASTS("10.0.0.1:6380: certificate refused: certificate revoked", "another certificate"),
    LASTS("TLS: refused by the server: sslv3 alert certificate expired", "our own certificate"),
    LASTS("TLS: refused by the server: sslv3 alert certificate revoked", "our own certificate"),
    LASTS("TLS: refused by the server: tlsv13 alert certificate required", "cert-file"),
    LASTS("TLS: peer did not return a certificate", "cert-file"),
    LASTS("TLS: refused by the server: sslv3 alert bad certificate", "cert-file"),
    LASTS("TLS: refused by the server: sslv3 alert no certificate", "cert-file"),
    LASTS("TLS: refused by the server: tlsv1 certificate unobtainable", "cert-file"),
    LASTS("TLS: refused by the server: tlsv1 alert unknown ca", "cert-file"),
    LASTS("TLS: refused by the server: sslv3 alert certificate unknown", "cert-file"),
    LASTS("TLS: refused by the server: sslv3 alert unsupported certificate", "cert-file"),
    LASTS("TLS: refused by the server: tlsv1 alert access denied", "cert-file"),
    LASTS("TLS: refused by the server: tlsv1 alert decrypt error", "cert-file"),
    LASTS("TLS: refused by the server: sslv3 alert handshake failure", "cert-file"),
    LASTS("TLS: refused by the server: tlsv1 unrecognized name", "server-name"),
    LASTS("10.0.0.1:6380: its certificate is not for redis-1", "server-name"),
    LASTS("certificate refused: self-signed certificate in certificate chain", "ca-file"),
    LASTS("certificate refused: self signed certificate", "ca-file"),
    LASTS("certificate refused: unable to get local issuer certificate", "ca-file"),
    LASTS("certificate refused: unable to verify the first certificate", "ca-file"),
    LASTS("certificate refused: certificate not trusted", "ca-file"),
    LASTS("the server showed no certificate", "tls-cert-file"),
    LASTS("certificate refused: unsuitable certificate purpose", "serverAuth"),
    LASTS("certificate refused: EE certificate key too weak", "longer key"),
    LASTS("TLS: dh key too small", "longer key"),
    LASTS("10.0.0.1:6379: the server does not speak TLS", "redis://"),
    LASTS("TLS: refused by the server: tlsv1 alert protocol version", "in common"),
    LASTS("TLS: unsupported protocol", "in common"),
    LASTS("TLS: refused by the server: tlsv1 alert insufficient security", "in common"),
    LASTS("TLS: no protocols available", "in common"),
    LASTS("TLS: no ciphers available", "in common"),
    LASTS("TLS: no shared cipher", "in common"),
    LASTS("certificate refused: path length constraint exceeded", "ca-file"),
    PASSES("10.0.0.1:6380: closed by the server in the TLS handshake", "maxclients"),
    PASSES("10.0.0.1:6380: timed out in the TLS handshake", "no TLS port"),
    PASSES("TLS: refused by the server: tlsv1 alert internal error", "log of that server"),
    PASSES("TLS: bad record mac", "redlock.conf(5)"),

    LASTS("Protocol error, got \"H\" as reply type byte", "web server"),
    LASTS("Protocol error, got \"S\" as reply type byte", "another protocol"),
    LASTS("the reply is nested", "another protocol"),
    LASTS("the reply has too many elements", "another protocol"),
    LASTS("authentication failed: answered with a number, neither OK nor an error",
          "another protocol"),
    PASSES("answered something that was not asked for", "no proxy"),
    PASSES("sent something unasked", "no proxy"),
    PASSES("answered NOSCRIPT to a script's own text", "no proxy"),
    PASSES("is a replica, so it has no vote", "don't name its master"),
    PASSES("READONLY You can't write against a read only replica.", "don't name its master"),
    PASSES("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
           "REPLICAOF NO ONE"),
    PASSES("SET was granted, but GET shows nothing: is it sent to a replica?", "no proxy"),

    PASSES("redis-1: the name look-up takes too long", "name server"),
    PASSES("redis-1: Temporary failure in name resolution", "name server"),
    PASSES("redis-1: Name or service not known", "name right"),
    PASSES("redis-1: No address associated with hostname", "an address"),
    PASSES("redis-1: Address family for hostname not supported", "address of a kind"),

    PASSES("/run/redis: timed out: its backlog is full", "overloaded"),
    PASSES("connected, but no answer within connect-timeout", "overloaded"),
    PASSES("no answer to the script within 200 ms", "CLIENT PAUSE"),
    PASSES("does not answer", "network cut"),
    PASSES("10.0.0.1:6379: timed out while connecting", "firewall"),
    PASSES("no answer within connect-timeout", "firewall"),
    PASSES("127.0.0.1:6379: Connection refused", "running"),
    PASSES("/run/redis: No such file or directory", "path of its socket"),
    PASSES("/run/redis: Not a directory", "path of its socket"),
    PASSES("/run/redis: Protocol wrong type for socket", "the server's own socket"),
    LASTS("/run/redis: Permission denied", "unixsocketperm"),
    PASSES("10.0.0.1:6379: Operation not permitted", "sandbox"),
    PASSES("10.0.0.1:6379: Connection reset by peer", "on both sides"),
    PASSES("10.0.0.1:6379: Broken pipe", "on both sides"),
    PASSES("10.0.0.1:6379: closed by the server", "no proxy"),
    PASSES("10.0.0.1:6379: No route to host", "network there"),
    PASSES("10.0.0.1:6379: Host is down", "network there"),
    PASSES("10.0.0.1:6379: Network is unreachable", "network there"),
    PASSES("10.0.0.1:6379: Network is down", "network there"),
    PASSES("no socket to be had: Too many open files", "ulimit -n"),
    PASSES("10.0.0.1:6379: Cannot assign requested address", "free ports"),
    PASSES("no socket to be had: No buffer space available", "free memory"),
    PASSES("10.0.0.1:6379: out of memory", "free memory"),
    PASSES("no socket to be had: Cannot allocate memory", "free memory"),
    PASSES("no thread for the name look-up: Resource temporarily unavailable", "ulimit -u"),

    LASTS("authentication failed: ERR what else", "check the user"),
    LASTS("the certificate of the server is odd", "ca-file"),
    PASSES("quarantined, votes in 9 s, because it was a replica", NULL),
};
#define TEXTS (sizeof(texts) / sizeof(texts[0]))

TEST(rows, each_text_is_known_by_its_own_row, .rows = (int)TEXTS)
{
    size_t count;
    const struct rl_refusal *row = &rl_refusals(&count)[_i];
    const struct rl_refusal *found = rl_refusal_of(texts[_i].text);
    ck_assert_ptr_nonnull(found);
    ck_assert_msg(found == row, "%s: found by \"%s\", and not by \"%s\"", texts[_i].text,
                  found->words, row->words);
    ck_assert_int_eq(found->class, texts[_i].class);
    ck_assert_int_eq(rl_refusal_lasts(texts[_i].text), texts[_i].class == RL_REFUSAL_LASTS);
    if (texts[_i].remedy)
        ck_assert_msg(strstr(found->remedy, texts[_i].remedy), "%s", found->remedy);
    ck_assert_int_eq(found->remedy == NULL, texts[_i].remedy == NULL);
    ck_assert_ptr_eq(rl_refusal_own_remedy(texts[_i].text) ? NULL : found->remedy,
                     rl_refusal_remedy(texts[_i].text));
}

TEST(rows, each_row_has_a_text_here)
{
    size_t count;
    (void)rl_refusals(&count);
    ck_assert_uint_eq(count, TEXTS);
}

/* Another server in a place of the list, or a clock that is set, is a change at work. */
TEST(rows, remedy_that_changes_which_server_votes_names_what_makes_that_safe)
{
    static const struct {
        const char *text, *safe;
    } remedies[] = {
        {"is a replica, so it has no vote", "max-ttl later"},
        {"MASTERDOWN", "Changing the list"},
        {"two servers answer at this address", "restart that one then"},
        {"names no run_id", "Changing the list"},
        {"is a member of a Redis Cluster", "new and empty"},
        {"evicts keys, and locks with them", "restart it"},
        {"tells no uptime", "stop that server"},
        {"OOM", "what is no lock"},
    };
    for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++) {
        const char *remedy = rl_refusal_of(remedies[i].text)->remedy;
        ck_assert_msg(strstr(remedy, remedies[i].safe), "%s: %s", remedies[i].text, remedy);
    }
}

TEST(rows, what_is_not_known_may_pass)
{
    ck_assert_ptr_null(rl_refusal_of("ERR what nobody has seen"));
    ck_assert(!rl_refusal_lasts("ERR what nobody has seen"));
    ck_assert(!rl_refusal_lasts(""));
}

TEST(rows, what_this_machine_lacks_is_no_fault_of_a_master)
{
    ck_assert_int_eq(rl_refusal_of("no socket to be had: Too many open files")->exit_status, 71);
    ck_assert_int_eq(rl_refusal_of("NOPERM")->exit_status, 69);
    ck_assert_int_eq(rl_refusal_of("Connection refused")->exit_status, 69);
}

/* ---- all that libraries can say ---- */

TEST(libraries, each_certificate_that_openssl_refuses_needs_a_person)
{
    char text[256];
    for (long verdict = 1; verdict <= 94; verdict++) {
        snprintf(text, sizeof(text), "certificate refused: %s",
                 X509_verify_cert_error_string(verdict));
        ck_assert_msg(rl_refusal_lasts(text), "%s", text);
    }
}

TEST(libraries, each_alert_of_a_server_has_a_remedy)
{
    unsigned seen = 0;
    OPENSSL_init_ssl(OPENSSL_INIT_LOAD_SSL_STRINGS, NULL);
    for (int alert = 0; alert < 140; alert++) {
        unsigned long error = ERR_PACK(ERR_LIB_SSL, 0, SSL_AD_REASON_OFFSET + alert);
        const char *reason = ERR_reason_error_string(error);
        char text[256];
        if (!reason)
            continue;
        seen++;
        snprintf(text, sizeof(text), "TLS: refused by the server: %s", reason);
        ck_assert_msg(rl_refusal_of(text), "%s", text);
        if (strstr(reason, "certificate"))
            ck_assert_msg(rl_refusal_lasts(text), "%s", text);
    }
    ck_assert_uint_ge(seen, 20);
}

TEST(libraries, each_failure_of_a_look_up_is_known_and_passes)
{
    static const int codes[] = {EAI_NONAME, EAI_AGAIN, EAI_FAIL, EAI_NODATA, EAI_ADDRFAMILY};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        ck_assert_msg(rl_refusal_of(gai_strerror(codes[i])), "%s", gai_strerror(codes[i]));
        ck_assert(!rl_refusal_lasts(gai_strerror(codes[i])));
    }
}

TEST(libraries, each_error_of_a_connect_is_known)
{
    static const int errors[] = {
        ECONNREFUSED, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, EHOSTDOWN, ENETDOWN,
        ECONNRESET,   EPIPE,     EACCES,       EPERM,       ENOENT,    ENOTDIR,
        EPROTOTYPE,   EMFILE,    ENFILE,       ENOBUFS,     ENOMEM,    EADDRNOTAVAIL,
        EAFNOSUPPORT,
    };
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        ck_assert_msg(rl_refusal_of(strerror(errors[i])), "%s", strerror(errors[i]));
}
