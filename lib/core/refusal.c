/* refusal.c - see refusal.h. Core. */
#include "config_auto.h"

#include "core/refusal.h"

#include <assert.h>
#include <string.h>
#include <sysexits.h>

#define PASSES(words, remedy) WAITS(words, RL_WAIT_ASKED, remedy)
#define WAITS(words, wait, remedy) {words, RL_REFUSAL_PASSES, EX_UNAVAILABLE, remedy, wait}
#define LASTS(words, remedy) {words, RL_REFUSAL_LASTS, EX_UNAVAILABLE, remedy, RL_WAIT_ASKED}
#define HERE(words, remedy) {words, RL_REFUSAL_PASSES, EX_OSERR, remedy, RL_WAIT_ASKED}

#define LOGIN "give the user and the password of this master in the node list"
#define RIGHTS "allow the user what redlock(7) lists under permissions"
#define KEYS "allow the user these keys, or name a beginning that it may use: --prefix"
#define CHANNELS "allow the user the channels redlock:wake:*"
#define RENAMED                                                                                \
    "give it its name back there (rename-command): EVAL, EVALSHA and all that redlock(7) lists"
#define NO_CLUSTER "use independent masters, new and empty; a cluster's members are not"
#define STEPS "redlock(7), \"Changing the list\""
#define NO_PROXY "name the master itself, with no proxy before it, by the steps of " STEPS
#define REPLICA                                                                                \
    "don't name its master without failover=yes: that may lack locks. If no other server "     \
    "took its place, REPLICAOF NO ONE makes it vote, max-ttl later; with guard off replace "   \
    "it by the steps of " STEPS
#define NO_REDIS "is it a Redis server's port? what answers there speaks another protocol"
#define STARTED "is the server running, and is the address right?"
#define WAY "is the address right, and is its network there?"
#define FIREWALL "is the address right, and does a firewall let us through?"
#define OVERLOADED "is its process stopped, paused or overloaded?"
#define OWN_CERTIFICATE                                                                        \
    "show it a certificate that its ca-cert-file knows: cert-file and key-file"
#define SENTINELS "start them, let this machine reach them, and see what the log says of each"
#define SENTINELS_LOGIN                                                                        \
    "give the line the Sentinels' own: sentinel-user= and sentinel-password-file="
#define SENTINELS_RIGHTS                                                                       \
    "allow the Sentinels' user +info +sentinel|master +sentinel|get-master-addr-by-name "      \
    "+sentinel|myid"
#define SERVICE "name the service as `sentinel monitor` does in the Sentinels' files"
#define SENTINELS_PORT "name the addresses of Sentinels; mostly their port is 26379"
#define SENTINELS_TLS                                                                          \
    "do they speak TLS there, by certificates that ca-file knows? else write sentinel-tls=off"
#define FULL "raise maxclients there, or have clients close connections that idle"
#define NAME "is the host's name right, and does a name server answer?"
#define ONE_ADDRESS                                                                            \
    "name this master by one address, or let each address of its name lead to it"
#define ANOTHERS                                                                               \
    "see whose that key is, and give one of both another database; delete it when nobody uses it"
#define TRUST "give the certificate of the authority that signed its own: ca-file"
#define RENEW "renew that master's certificate; is this machine's clock right?"
#define TLS_VERSION "let both sides have a version of TLS and a cipher in common (1.2 or 1.3)"
#define CERTIFICATE "see ca-file, cert-file and server-name in redlock.conf(5)"

/* The first that fits is taken, so a text of several words has the more certain ones first. */
static const struct rl_refusal rows[] = {
    /* What a server says: */
    PASSES("max number of clients", FULL),
    PASSES("OOM", "raise maxmemory there, or delete what is no lock"),
    PASSES("MISCONF",
           "its disk is full or can't be written: see its log, and mend persistence"),
    PASSES("NOREPLICAS", "bring its replicas back, or set min-replicas-to-write 0"),
    PASSES("LOADING", "it votes once it has loaded its keys"),
    PASSES("BUSY", "a script blocks this master: see SCRIPT KILL"),
    LASTS("protected mode",
          "give its users passwords, or set protected-mode no on a server that "
          "nobody else can reach"),
    LASTS("WRONGPASS", LOGIN),
    LASTS("invalid password", LOGIN),
    LASTS("NOAUTH", "this master wants a password: add password-file=FILE to its line"),
    LASTS("without any password", "this master wants no password: take it out of its line"),
    LASTS("arguments for 'auth'", "it knows no users, as before Redis 6: take the user out of "
                                  "its line"),
    LASTS("password-file", "put this master's password into that file, for this user to read"),
    LASTS("password-env", "set this variable to this master's password, or use password-file"),
    LASTS("URL's password", "write the password into a file, and name it: password-file=FILE"),
    LASTS("SELECT is not allowed in cluster", NO_CLUSTER),
    LASTS("DB index is out of range", "name a database that it has (its setting `databases`)"),
    LASTS("invalid DB index", "name a database that it has (its setting `databases`)"),
    LASTS("INFO was refused", "allow the user INFO; it may be renamed or disabled there"),
    LASTS("Unknown Redis command", RENAMED),
    LASTS("unknown command", RENAMED),
    LASTS("unsupported command", NO_PROXY),
    LASTS("non deterministic", "set lua-replicate-commands yes there, as it is by default"),
    LASTS("undeclared key", "let its scripts use all keys: --default_lua_flags="
                            "allow-undeclared-keys"),
    LASTS("access a key", KEYS),
    LASTS("access one of the keys", KEYS),
    LASTS("channels redlock:wake", CHANNELS),
    LASTS("access a channel", CHANNELS),
    LASTS("access one of the channels", CHANNELS),
    LASTS("ACL failure in script", RIGHTS),
    LASTS("user executing the script", RIGHTS),
    LASTS("NOPERM", RIGHTS),
    LASTS("CROSSSLOT", NO_CLUSTER),
    LASTS("MOVED", NO_CLUSTER),
    LASTS("CLUSTERDOWN", NO_CLUSTER),
    LASTS("member of a Redis Cluster", NO_CLUSTER),
    LASTS("is a Sentinel", "name independent masters themselves"),
    LASTS("evicts keys",
          "set maxmemory-policy noeviction there, and restart it: the guard waits "
          "for the locks that it may have evicted"),
    LASTS("names no run_id", NO_PROXY),
    {"two servers answer", RL_REFUSAL_LASTS, EX_UNAVAILABLE,
     "leave one of them at that address, and restart that one then", RL_WAIT_SEEN},
    LASTS("another program's", ANOTHERS),
    LASTS("is no list of nodes", ANOTHERS),
    LASTS("can't be compared (WRONGTYPE", "see whose key libredlock:lists is, and give one of "
                                          "both another database; delete it when nobody uses it"),
    LASTS("a name that leads to several", "give each Sentinel a name of its own, as a pod's"),
    LASTS("named twice", "name different Sentinels"),
    LASTS("SENTINEL MYID", "allow the Sentinels' user SENTINEL MYID, which Redis has since 6.2"),
    /* Several are mostly so many that no majority is left. One alone costs nothing. */
    LASTS("refuse the password", SENTINELS_LOGIN),
    LASTS("want a password", SENTINELS_LOGIN),
    LASTS("a password that can't be read", SENTINELS_LOGIN),
    LASTS("refuse a right", SENTINELS_RIGHTS),
    LASTS("know no service", SERVICE),
    LASTS("are another kind of server", SENTINELS_PORT),
    LASTS("answer unlike a Sentinel", SENTINELS_PORT),
    PASSES("refuses the password", SENTINELS_LOGIN),
    PASSES("wants a password", SENTINELS_LOGIN),
    PASSES("refuses a right", SENTINELS_RIGHTS),
    PASSES("told no uptime (INFO)", SENTINELS_RIGHTS),
    PASSES("knows no service", SERVICE),
    PASSES("is another kind of server", SENTINELS_PORT),
    PASSES("answers unlike a Sentinel", SENTINELS_PORT),
    PASSES("spoken to by TLS", SENTINELS_TLS),
    PASSES("found by its name", NAME),
    PASSES("found by their names", NAME),
    PASSES("too many clients", FULL),
    PASSES("refuses connections", SENTINELS),
    PASSES("refuse connections", SENTINELS),
    PASSES("Sentinels don't answer", SENTINELS),
    PASSES("Sentinels doesn't answer", SENTINELS),
    PASSES("a later failover than", "do its Sentinels reach each other?"),
    PASSES("another address of its name", ONE_ADDRESS),
    LASTS("its name has more than", ONE_ADDRESS),
    PASSES("loading its data set", "it votes once it has loaded its keys"),
    WAITS("tells no uptime", RL_WAIT_SEEN,
          "stop that server, set its machine's clock right, start it again"),
    WAITS("restarted less than max-ttl ago", RL_WAIT_UPTIME, NULL),
    WAITS("was a replica or loaded its keys anew less", RL_WAIT_SEEN, NULL),
    WAITS("taken the place of another server less", RL_WAIT_SEEN, NULL),
    LASTS("the same server as", "name each master once"),
    LASTS("(PUBLISH)", "allow the user PUBLISH and the channels redlock:wake:*, or is PUBLISH "
                       "renamed there?"),
    LASTS("ZADD", "allow the user these commands; redlock(7) lists all"),

    /* What TLS says. An alert is the server's word on our certificate: */
    LASTS("certificate has expired", RENEW),
    LASTS("certificate is not yet valid",
          "are this machine's clock, and the one that made it, right?"),
    LASTS("refused: certificate revoked", "give that master another certificate"),
    LASTS("alert certificate expired", "renew our own certificate: cert-file"),
    LASTS("alert certificate revoked", "renew our own certificate: cert-file"),
    LASTS("alert certificate required", OWN_CERTIFICATE),
    LASTS("did not return a certificate", OWN_CERTIFICATE),
    LASTS("bad certificate", OWN_CERTIFICATE),
    LASTS("alert no certificate", OWN_CERTIFICATE),
    LASTS("certificate unobtainable", OWN_CERTIFICATE),
    LASTS("alert unknown ca", OWN_CERTIFICATE),
    LASTS("alert certificate unknown", OWN_CERTIFICATE),
    LASTS("alert unsupported certificate", OWN_CERTIFICATE),
    LASTS("alert access denied", OWN_CERTIFICATE),
    LASTS("alert decrypt error", OWN_CERTIFICATE),
    LASTS("handshake failure", "does it want our certificate (cert-file), or other ciphers?"),
    LASTS("unrecognized name", "name it as its certificate does: server-name"),
    LASTS("certificate is not for",
          "name it as its certificate does: server-name, or give it one for this "
          "name"),
    LASTS("self-signed certificate", TRUST),
    LASTS("self signed certificate", TRUST),
    LASTS("issuer certificate",
          TRUST ", or that master's certificate is of a former authority: renew it"),
    LASTS("verify the first certificate", TRUST),
    LASTS("certificate not trusted", TRUST),
    LASTS("showed no certificate", "give that server a certificate: tls-cert-file"),
    LASTS("certificate purpose", "give that master a certificate for servers (serverAuth)"),
    LASTS("too weak", "give that master a certificate with a longer key and SHA-256 or better"),
    LASTS("too small",
          "give that master a certificate with a longer key and SHA-256 or better"),
    LASTS("does not speak TLS", "name its TLS port, or write redis:// for a port without TLS"),
    LASTS("protocol version", TLS_VERSION),
    LASTS("unsupported protocol", TLS_VERSION),
    LASTS("insufficient security", TLS_VERSION),
    LASTS("no protocols available", TLS_VERSION),
    LASTS("no ciphers available", TLS_VERSION),
    LASTS("no shared cipher", TLS_VERSION),
    LASTS("certificate refused", CERTIFICATE),
    PASSES("closed by the server in the TLS",
           "has it connections left (maxclients), and is that "
           "its TLS port?"),
    PASSES("in the TLS handshake", OVERLOADED " or is that no TLS port?"),
    PASSES("refused by the server", "see the log of that server: its TLS does not like ours"),
    PASSES("TLS: ", CERTIFICATE),

    /* What no Redis server says: */
    LASTS("got \"H\" as reply", "that is a web server's port (HTTP): give the one of Redis"),
    LASTS("Protocol error", NO_REDIS),
    LASTS("the reply is", NO_REDIS),
    LASTS("the reply has too many", NO_REDIS),
    LASTS("nor an error", NO_REDIS),
    PASSES("was not asked for", NO_PROXY),
    PASSES("something unasked", NO_PROXY),
    PASSES("answered NOSCRIPT", NO_PROXY),
    PASSES("is a replica", REPLICA),
    PASSES("read only replica", REPLICA),
    PASSES("MASTERDOWN", REPLICA),
    PASSES("sent to a replica", NO_PROXY),

    /* What the names' service says: */
    PASSES("look-up takes too long", "does a name server answer?"),
    PASSES("name resolution", NAME),
    PASSES("service not known", "is the host's name right?"),
    PASSES("No address associated", "is the host's name right, and has it an address?"),
    PASSES("Address family", "has the host an address of a kind that this machine has?"),

    /* What this machine's system says of the way there: */
    PASSES("backlog is full", OVERLOADED),
    PASSES("connected, but no answer", OVERLOADED),
    PASSES("no answer to the script",
           "is it in CLIENT PAUSE, in a slow script, or overloaded?"),
    PASSES("does not answer", "is its process stopped, or the network cut?"),
    PASSES("timed out", FIREWALL),
    PASSES("no answer within", FIREWALL),
    PASSES("Connection refused", STARTED),
    PASSES("No such file", "is the server running, and is the path of its socket right?"),
    PASSES("Not a directory", "is the server running, and is the path of its socket right?"),
    PASSES("wrong type for socket", "is the path that of the server's own socket?"),
    LASTS("Permission denied", "let our user use that socket (unixsocketperm, or its group)"),
    PASSES("Operation not permitted", "a rule of this machine forbids it: firewall or sandbox"),
    PASSES("reset by peer", "is it a Redis server, and TLS on both sides or on neither?"),
    PASSES("Broken pipe", "is it a Redis server, and TLS on both sides or on neither?"),
    PASSES("closed by the server",
           "is it a Redis server, with TLS on both sides or on neither, "
           "and no proxy before it?"),
    PASSES("No route to host", WAY),
    PASSES("Host is down", WAY),
    PASSES("unreachable", WAY),
    PASSES("Network is down", WAY),
    HERE("Too many open files", "raise the limit of open files (ulimit -n)"),
    HERE("Cannot assign requested address",
         "has this machine an address and free ports for it?"),
    HERE("No buffer space", "free memory of this machine"),
    HERE("out of memory", "free memory of this machine"),
    HERE("Cannot allocate memory", "free memory of this machine"),
    HERE("no thread for the name look-up", "raise the limit of processes (ulimit -u)"),

    /* Places: what was wrong there is not known. */
    LASTS("authentication", "check the user and the password of this master in the node list"),
    LASTS("ertificate", CERTIFICATE),
    WAITS("quarantined", RL_WAIT_QUARANTINE, NULL), /* its reasons have many words */
};

const struct rl_refusal *rl_refusals(size_t *ret_count)
{
    *ret_count = sizeof(rows) / sizeof(rows[0]);
    return rows;
}

const struct rl_refusal *rl_refusal_of(const char *text)
{
    assert(text);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strstr(text, rows[i].words))
            return &rows[i];
    }
    return NULL;
}

const char *rl_refusal_own_remedy(const char *text)
{
    static const char *const begins[] = {": name ", ": set ", ": free "};
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        const char *at = strstr(text, begins[i]);
        if (at)
            return at;
    }
    return NULL;
}

const char *rl_refusal_remedy(const char *text)
{
    const struct rl_refusal *refusal = rl_refusal_own_remedy(text) ? NULL : rl_refusal_of(text);
    return refusal ? refusal->remedy : NULL;
}

bool rl_refusal_lasts(const char *text)
{
    const struct rl_refusal *refusal = rl_refusal_of(text);
    return refusal && refusal->class == RL_REFUSAL_LASTS;
}
