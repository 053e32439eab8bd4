/* redlock.hpp - libredlock for C++17 and later: redlock::client, redlock::lock.
 *
 * All of it is in this header, and it decides nothing: each call is one call of redlock.h, whose
 * comments say what it does. What is added: names by string_view, times by std::chrono, callbacks
 * by std::function, and ends of life: a lock releases itself, a client closes itself.
 *
 * `redlock` is the C library's opaque struct and not a namespace, so that both headers can stand
 * in one file.
 *
 * Errors: a call returns a result<T>, which has a T or an outcome with code and text, or the outcome alone. Who prefers
 * exceptions asks it for its value(): redlock::error is thrown where there is none.
 *
 * Threads: as in redlock.h for one client. A lock is moved, extended and released by one thread
 * at a time.
 *
 * Callbacks may throw: config::on_exception is told, and without it the program ends
 * (std::terminate). In a callback calls that block fail with REDLOCK_EDEADLK. A lock that ends
 * there is released all the same, but for the log's callback: there it stays held until the
 * client ends. A client must not end in one of its own callbacks.
 *
 * A client that ends before its locks has released them. Calls on them fail then.
 */
#ifndef REDLOCK_HPP
#define REDLOCK_HPP

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "redlock.hpp needs C++17; C++98 to C++14 can use redlock.h"
#endif

#include <redlock.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#if __has_include(<stop_token>)
#include <stop_token>
#endif

struct redlock {
    redlock() = delete;

    using milliseconds = std::chrono::milliseconds;
    static constexpr milliseconds forever{REDLOCK_FOREVER};

    class client;
    class lock;

    enum class kind {
        plain = REDLOCK_PLAIN,
        reentrant = REDLOCK_REENTRANT,
        fair = REDLOCK_FAIR,
        read = REDLOCK_READ,
        write = REDLOCK_WRITE
    };

    /* ---- results ---------------------------------------------------------------------- */

    class error;

    /* What a call came to: enum redlock_error_code, and a sentence where it failed. */
    struct [[nodiscard]] outcome {
        int code = REDLOCK_OK;
        std::string text;
        explicit operator bool() const noexcept { return code == REDLOCK_OK; }
        void value() const /* or throw an error */
        {
            if (code != REDLOCK_OK)
                throw error(*this);
        }
    };

    class error : public std::runtime_error {
    public:
        explicit error(const outcome &why) : std::runtime_error(why.text), code_(why.code) {}
        int code() const noexcept { return code_; }

    private:
        int code_;
    };

    /* A T, or why there is none. True where there is one; only then may * and -> be used. */
    template <class T> class [[nodiscard]] result {
    public:
        result(T value) : value_(std::move(value)) {}
        result(outcome why) : why_(std::move(why)) {}
        explicit operator bool() const noexcept { return value_.has_value(); }
        int code() const noexcept { return why_.code; } /* REDLOCK_OK: there is a T */
        const std::string &text() const noexcept { return why_.text; }
        T &operator*() noexcept { return *value_; }
        const T &operator*() const noexcept { return *value_; }
        T *operator->() noexcept { return &*value_; }
        const T *operator->() const noexcept { return &*value_; }
        const T &value() const &
        {
            check();
            return *value_;
        }
        T &value() &
        {
            check();
            return *value_;
        }
        T value() && /* moved out */
        {
            check();
            return std::move(*value_);
        }

    private:
        void check() const
        {
            if (!value_)
                why_.value();
        }
        std::optional<T> value_;
        outcome why_;
    };

    /* ---- reports ---------------------------------------------------------------------- */

    /* The structs of redlock.h, whose arrays are here: `sums.node` is nullptr. */
    struct report {
        redlock_report sums{};
        std::vector<redlock_node_vote> nodes;
    };

    /* `code` as the C call: REDLOCK_OK, or REDLOCK_ENOQUORUM with all that is known. Of other
     * codes nothing is filled in. */
    struct hold_report {
        int code = REDLOCK_OK;
        redlock_hold_report sums{};
        std::vector<redlock_node_hold> nodes;
        explicit operator bool() const noexcept { return code == REDLOCK_OK; }
        std::string_view text() const noexcept { return sums.text; }
    };

    struct status_report {
        int code = REDLOCK_OK;
        redlock_status_report sums{};
        std::vector<redlock_node_status> nodes;
        explicit operator bool() const noexcept { return code == REDLOCK_OK; }
    };

    struct lock_info {
        int code = REDLOCK_OK;
        redlock_lock_info sums{};
        std::vector<redlock_node_info> nodes;
        std::vector<redlock_holder> holders;
        explicit operator bool() const noexcept { return code == REDLOCK_OK; }
    };

    /* ---- options ---------------------------------------------------------------------- */

    /* As redlock_options. */
    struct options {
        redlock::kind kind = redlock::kind::plain;
        milliseconds ttl{0};  /* 0: the client's default */
        milliseconds wait{0}; /* 0: once; forever */
        bool auto_renew = false;
        milliseconds max_hold{0};
        milliseconds at_least{0}; /* others are kept out for so long, also after its release */
        bool fenced = false;
        bool lazy_release = false;
        std::string owner;                                /* empty: the calling thread */
        std::function<void(const hold_report &)> on_lost; /* told why */
        std::function<void(const outcome &)> on_release;  /* what came of the release at its
                                                             end; of a lazy one: queued */
        redlock::report *votes = nullptr; /* yours; until the call, or its callback, is over */
    };

    /* As redlock_node. */
    struct node {
        std::string url;
        std::string password_file, password_env;
        std::string ca_file, ca_dir, cert_file, key_file, server_name;
        std::string failover;
        std::string sentinel_user, sentinel_password_file, sentinel_password_env, sentinel_tls;
    };

    /* As redlock_config. */
    struct config {
        std::string list; /* a node list: the path of a file, or words */
        std::vector<node> nodes;
        milliseconds max_ttl{0}, ttl{0}, node_timeout{0}, connect_timeout{0}, stall_limit{0};
        milliseconds linger{0}, lock_delay{0};
        double drift_factor = 0;
        int guard = 0; /* this and the next four: enums of redlock.h */
        int background = 0;
        int config_agreement = 0;
        int watch_wall_clock = 0;
        int fencing = 0;
        std::string client_name;
        std::function<void(int level, std::string_view text)> log;
        int log_level = 0;
        std::function<void(std::exception_ptr)> on_exception; /* of a callback that threw */
    };

    /* ---- a lock ----------------------------------------------------------------------- */

private:
    struct shared; /* of a client and its locks */
    struct hold;   /* of a lock and its callbacks */
    struct trial;  /* of an asynchronous try */
    struct step;   /* of an asynchronous extension or release */
    struct border;
    struct forget { /* `hold` is not complete yet */
        void operator()(hold *gone) const noexcept;
    };
    using held = std::unique_ptr<hold, forget>;

public:
    /* A lock that is held, or was. It releases itself at its end. */
    class lock {
    public:
        lock() noexcept = default; /* none: as one that was released */
        lock(lock &&other) noexcept = default;
        lock &operator=(lock &&other) noexcept
        {
            if (this != &other) {
                const lock before(std::move(*this)); /* its on_release sees the new one */
                hold_ = std::move(other.hold_);
            }
            return *this;
        }
        lock(const lock &) = delete;
        lock &operator=(const lock &) = delete;
        ~lock() { end(); }

        /* It is certainly ours for so long; 0: stop. */
        milliseconds validity() const noexcept
        {
            return milliseconds{redlock_validity_ms(get())};
        }
        explicit operator bool() const noexcept { return redlock_validity_ms(get()) > 0; }
        std::string_view token() const noexcept { return get() ? redlock_token(get()) : ""; }
        std::uint64_t fencing_token() const noexcept
        {
            return get() ? redlock_fencing_token(get()) : 0;
        }
        std::vector<std::string_view> names() const
        {
            std::vector<std::string_view> all;
            for (std::size_t i = 0, n = get() ? redlock_name_count(get()) : 0; i < n; i++)
                all.push_back(name_at(i));
            return all;
        }
        std::string_view name() const noexcept
        {
            return get() ? name_at(0) : std::string_view{};
        }

        /* Why it was lost, or what threatens it. */
        hold_report get_hold() const
        {
            hold_report told;
            told.code = REDLOCK_ENOTHELD;
            if (get())
                fill(get(), told);
            return told;
        }

        /* 0: the ttl it was taken with. */
        outcome extend(milliseconds ttl = milliseconds{0}, report *votes = nullptr);
        outcome extend_async(milliseconds ttl, std::function<void(const outcome &)> done);

        /* Now, and with what came of it. After REDLOCK_EDEADLK and REDLOCK_EFORK it is
         * still here. `done` may be empty. */
        outcome release();
        outcome release_async(std::function<void(const outcome &)> done = nullptr);

        /* A text for client::attach(). After success detach() leaves no lock here. */
        result<std::string> detach();
        result<std::string> handle() const;

        redlock_lock *get() const noexcept; /* for calls of redlock.h; nullptr: none */

    private:
        friend struct redlock;
        explicit lock(held taken) noexcept;
        static void fill(redlock_lock *of, hold_report &told);
        std::string_view name_at(std::size_t index) const noexcept
        {
            std::size_t len = 0;
            const char *bytes = redlock_name_at(get(), index, &len);
            return {bytes, len};
        }
        void end() noexcept;
        held hold_;
    };

    /* ---- a client --------------------------------------------------------------------- */

    /* One of the locks that try_lock_all() takes together. */
    struct item {
        client *of;
        std::string_view name;
        options how; /* its wait and its votes don't count */
    };

    /* The masters of a node list. Locks that are held are released at its end. */
    class client {
    public:
        static result<client> open(const config &how);
        static result<client> open(const std::string &list)
        {
            config how;
            how.list = list;
            return open(how);
        }
        explicit client(const std::string &list) : client(open(list).value()) {}
        explicit client(const config &how) : client(open(how).value()) {}
        client(client &&other) noexcept = default;
        client &operator=(client &&other) noexcept
        {
            if (this != &other) {
                close();
                of_ = std::move(other.of_);
            }
            return *this;
        }
        client(const client &) = delete;
        client &operator=(const client &) = delete;
        ~client() { close(); }
        void close() noexcept;
        void shutdown() noexcept { redlock_shutdown(get()); }

        result<lock> try_lock(std::string_view name) { return try_lock(name, options{}); }
        result<lock> try_lock(std::string_view name, const options &how);
        /* All of these names, or none. */
        result<lock> try_names(const std::vector<std::string_view> &names)
        {
            return try_names(names, options{});
        }
        result<lock> try_names(const std::vector<std::string_view> &names, const options &how);
        result<lock> attach(const std::string &text);

        /* `done` runs once if the call could be begun. The number is for cancel(). */
        using done_fn = std::function<void(result<lock>)>;
        result<std::uint64_t> try_lock_async(std::string_view name, const options &how,
                                             done_fn done);
        result<std::uint64_t> try_names_async(const std::vector<std::string_view> &names,
                                              const options &how, done_fn done);
        outcome cancel(std::uint64_t id) { return told(get(), redlock_cancel(get(), id)); }
#if defined(__cpp_lib_jthread)
        /* Waits until it has the lock, or until a stop is asked for: REDLOCK_ECANCELED. Not on
         * the thread that drives the client, and not with REDLOCK_BACKGROUND_NEVER unless
         * another thread calls process(). */
        result<lock> try_lock(std::string_view name, const options &how, std::stop_token stop);
#endif

        /* For an event loop: see redlock_fd(). */
        result<int> fd();
        int timeout_ms() { return redlock_timeout_ms(get()); }
        outcome process() { return told(get(), redlock_process(get())); }

        lock_info inspect(std::string_view name, const std::string &owner = {});
        outcome force_release(std::string_view name, bool endless = false,
                              report *votes = nullptr);
        status_report status() { return look(&redlock_get_status); }
        status_report probe(const std::string &prefix = {});
        result<redlock_stats> stats();

        redlock *get() const noexcept; /* for calls of redlock.h; nullptr: moved, or closed */

    private:
        friend struct redlock;
        explicit client(std::shared_ptr<shared> of) noexcept : of_(std::move(of)) {}
        template <class Call> result<lock> take(const options &how, Call call);
        template <class Call>
        result<std::uint64_t> begin(const options &how, done_fn done, Call call);
        template <class Call> status_report look(Call call);
        std::shared_ptr<shared> of_;
    };

    /* The locks of all items, or of none, in their order. */
    static result<std::vector<lock>> try_lock_all(const std::vector<item> &items,
                                                  milliseconds wait = milliseconds{0});

    static const char *version() noexcept { return redlock_version(); }

private:
    /* What a code means; in the client's own words where it has some. */
    static outcome told(redlock *of, int code)
    {
        outcome what{code, {}};
        if (code == REDLOCK_OK)
            return what;
        redlock_error why{};
        why.size = sizeof(why);
        if (of && (code == REDLOCK_EINVAL || code == REDLOCK_ENOTSUP || code == REDLOCK_EHANDLE))
            (void)redlock_last_error(of, &why);
        what.text = *why.text ? why.text : redlock_strerror(code);
        return what;
    }

    /* A struct of redlock.h with room for its nodes; and after the call: what was written. */
    template <class Sums, class Node> static Sums *room(Sums &sums, std::vector<Node> &nodes)
    {
        nodes.resize(REDLOCK_NODES_MAX);
        sums = Sums{};
        sums.size = sizeof(sums);
        sums.node_size = sizeof(Node);
        sums.node = nodes.data();
        sums.node_max = REDLOCK_NODES_MAX;
        return &sums;
    }
    template <class Sums, class Node> static void cut(Sums &sums, std::vector<Node> &nodes)
    {
        nodes.resize(sums.node_count);
        sums.node = nullptr;
    }

    static redlock_report *room(report *votes)
    {
        return votes ? room(votes->sums, votes->nodes) : nullptr;
    }
    static void cut(report *votes)
    {
        if (votes)
            cut(votes->sums, votes->nodes);
    }

    static std::vector<redlock_bytes> bytes_of(const std::vector<std::string_view> &names)
    {
        std::vector<redlock_bytes> all;
        for (std::string_view name : names)
            all.push_back({name.data(), name.size()});
        return all;
    }
};

/* ---- what is behind it -------------------------------------------------------------------- */

struct redlock::shared {
    redlock *raw = nullptr; /* nullptr: closed */
    std::function<void(int, std::string_view)> log;
    std::function<void(std::exception_ptr)> on_exception;

    static void on_log(void *context, int level, const char *text) noexcept;
};

/* Where the library calls: nothing may throw through it. */
struct redlock::border {
    const shared *of;
    const border *below;

    static const border *&top() noexcept
    {
        static thread_local const border *frame = nullptr;
        return frame;
    }
    static bool within(const shared *of) noexcept
    {
        for (const border *frame = top(); frame; frame = frame->below) {
            if (frame->of == of)
                return true;
        }
        return false;
    }
    template <class Call> static void pass(const std::shared_ptr<shared> &of, Call call) noexcept
    {
        const border frame{of.get(), top()};
        top() = &frame;
        try {
            call();
        } catch (...) {
            if (!of->on_exception)
                std::terminate();
            of->on_exception(std::current_exception());
        }
        top() = frame.below;
    }
};

inline void redlock::shared::on_log(void *context, int level, const char *text) noexcept
{
    const std::shared_ptr<shared> of{std::shared_ptr<shared>{}, static_cast<shared *>(context)};
    border::pass(of, [&] { of->log(level, text); });
}

struct redlock::hold {
    std::shared_ptr<shared> of;
    redlock_lock *raw = nullptr;
    std::function<void(const hold_report &)> on_lost;
    std::function<void(const outcome &)> on_release;

    static void lost(void *context, redlock_lock *raw) noexcept
    {
        const hold *self = static_cast<hold *>(context);
        const std::shared_ptr<shared> of = self->of;
        border::pass(of, [&] {
            hold_report told;
            lock::fill(raw, told);
            self->on_lost(told);
        });
    }

    static held make(const std::shared_ptr<shared> &of, const options &how)
    {
        held made(new hold);
        made->of = of;
        made->on_lost = how.on_lost;
        made->on_release = how.on_release;
        return made;
    }

    redlock_options wanted(const options &how)
    {
        redlock_options plain{};
        plain.size = sizeof(plain);
        plain.kind = static_cast<int>(how.kind);
        plain.ttl_ms = how.ttl.count();
        plain.wait_ms = how.wait.count();
        plain.auto_renew = how.auto_renew;
        plain.max_hold_ms = how.max_hold.count();
        plain.on_lost = on_lost ? &hold::lost : nullptr;
        plain.lost_context = this;
        plain.owner = how.owner.empty() ? nullptr : how.owner.c_str();
        plain.release = how.lazy_release ? REDLOCK_RELEASE_LAZY : REDLOCK_RELEASE_CONFIRMED;
        plain.fenced = how.fenced;
        plain.at_least_ms = how.at_least.count();
        return plain;
    }
};

inline void redlock::forget::operator()(hold *gone) const noexcept
{
    delete gone;
}

struct redlock::trial {
    held taken;
    client::done_fn done;
    report *votes;

    static void over(void *context, int code, redlock_lock *raw) noexcept
    {
        const std::unique_ptr<trial> self(static_cast<trial *>(context));
        const std::shared_ptr<shared> of = self->taken->of;
        border::pass(of, [&] {
            cut(self->votes);
            self->taken->raw = raw;
            if (raw)
                self->done(lock(std::move(self->taken)));
            else
                self->done(told(nullptr, code));
        });
    }
};

struct redlock::step {
    std::shared_ptr<shared> of;
    held gone; /* of a release: its callbacks live until it is done */
    std::function<void(const outcome &)> done;

    static void over(void *context, int code, redlock_lock *) noexcept
    {
        const std::unique_ptr<step> self(static_cast<step *>(context));
        if (self->done)
            border::pass(self->of, [&] { self->done(told(nullptr, code)); });
    }
};

/* ---- a lock ------------------------------------------------------------------------------- */

inline redlock::lock::lock(held taken) noexcept : hold_(std::move(taken)) {}

inline redlock_lock *redlock::lock::get() const noexcept
{
    return hold_ && hold_->of->raw ? hold_->raw : nullptr;
}

inline void redlock::lock::fill(redlock_lock *of, hold_report &told)
{
    told.code = redlock_get_hold(of, room(told.sums, told.nodes));
    cut(told.sums, told.nodes);
}

inline redlock::outcome redlock::lock::extend(milliseconds ttl, redlock::report *votes)
{
    if (!get())
        return told(nullptr, REDLOCK_ENOTHELD);
    const int code = redlock_extend(get(), ttl.count(), room(votes));
    cut(votes);
    return told(hold_->of->raw, code);
}

inline redlock::outcome
redlock::lock::extend_async(milliseconds ttl, std::function<void(const outcome &)> done)
{
    if (!get())
        return told(nullptr, REDLOCK_ENOTHELD);
    std::unique_ptr<step> begun(new step{hold_->of, nullptr, std::move(done)});
    const int code =
        redlock_extend_async(get(), ttl.count(), nullptr, &step::over, begun.get());
    if (code == REDLOCK_OK)
        (void)begun.release();
    return told(hold_->of->raw, code);
}

inline redlock::outcome redlock::lock::release()
{
    if (!get())
        return told(nullptr, REDLOCK_ENOTHELD);
    const int code = redlock_release(get());
    held gone;
    if (code != REDLOCK_EDEADLK && code != REDLOCK_EFORK)
        gone = std::move(hold_); /* first: told() needs memory */
    return told(nullptr, code);
}

/* Its callbacks live on until it is done: this may be inside one of them. */
inline redlock::outcome
redlock::lock::release_async(std::function<void(const outcome &)> done)
{
    redlock_lock *raw = get();
    if (!raw)
        return told(nullptr, REDLOCK_ENOTHELD);
    const std::shared_ptr<shared> of = hold_->of;
    std::unique_ptr<step> begun(new step{of, nullptr, std::move(done)});
    begun->gone = std::move(hold_);
    const int code = redlock_release_async(raw, &step::over, begun.get());
    if (code == REDLOCK_EFORK || code == REDLOCK_EDEADLK)
        hold_ = std::move(begun->gone);
    else
        (void)begun.release(); /* without memory it is lost: on_lost may be running */
    return told(of->raw, code);
}

inline void redlock::lock::end() noexcept
{
    redlock_lock *raw = get();
    const int code = raw ? redlock_release(raw) : REDLOCK_OK;
    if (code == REDLOCK_EDEADLK) {
        if (release_async(hold_->on_release).code == REDLOCK_EDEADLK)
            (void)hold_.release(); /* in the log's callback: the client's end releases it */
        return;
    }
    const held gone = std::move(hold_); /* on_release may look here, or fill it anew */
    if (raw && gone->on_release)
        border::pass(gone->of, [&] { gone->on_release(told(nullptr, code)); });
}

inline redlock::result<std::string> redlock::lock::handle() const
{
    char text[REDLOCK_HANDLE_MAX];
    const int code = get() ? redlock_handle(get(), text, sizeof(text)) : REDLOCK_ENOTHELD;
    if (code != REDLOCK_OK)
        return told(nullptr, code);
    return std::string(text);
}

inline redlock::result<std::string> redlock::lock::detach()
{
    char text[REDLOCK_HANDLE_MAX];
    const int code = get() ? redlock_detach(get(), text, sizeof(text)) : REDLOCK_ENOTHELD;
    if (code != REDLOCK_OK)
        return told(nullptr, code);
    hold_.reset();
    return std::string(text);
}

/* ---- a client ----------------------------------------------------------------------------- */

inline redlock *redlock::client::get() const noexcept
{
    return of_ ? of_->raw : nullptr;
}

inline redlock::result<redlock::client> redlock::client::open(const config &how)
{
    auto of = std::make_shared<shared>();
    of->log = how.log;
    of->on_exception = how.on_exception;
    const auto text = [](const std::string &from) {
        return from.empty() ? nullptr : from.c_str();
    };
    std::vector<redlock_node> nodes;
    for (const node &from : how.nodes) {
        redlock_node one{};
        one.size = sizeof(one);
        one.url = from.url.c_str();
        one.password_file = text(from.password_file);
        one.password_env = text(from.password_env);
        one.ca_file = text(from.ca_file);
        one.ca_dir = text(from.ca_dir);
        one.cert_file = text(from.cert_file);
        one.key_file = text(from.key_file);
        one.server_name = text(from.server_name);
        one.failover = text(from.failover);
        one.sentinel_user = text(from.sentinel_user);
        one.sentinel_password_file = text(from.sentinel_password_file);
        one.sentinel_password_env = text(from.sentinel_password_env);
        one.sentinel_tls = text(from.sentinel_tls);
        nodes.push_back(one);
    }
    redlock_config plain{};
    plain.size = sizeof(plain);
    plain.file = text(how.list);
    plain.nodes = nodes.data();
    plain.node_count = nodes.size();
    plain.max_ttl_ms = how.max_ttl.count();
    plain.ttl_ms = how.ttl.count();
    plain.node_timeout_ms = how.node_timeout.count();
    plain.connect_timeout_ms = how.connect_timeout.count();
    plain.stall_limit_ms = how.stall_limit.count();
    plain.linger_ms = how.linger.count();
    plain.drift_factor = how.drift_factor;
    plain.guard = how.guard;
    plain.client_name = text(how.client_name);
    plain.log = how.log ? &shared::on_log : nullptr;
    plain.log_context = of.get();
    plain.log_level = how.log_level;
    plain.background = how.background;
    plain.lock_delay_ms = how.lock_delay.count();
    plain.config_agreement = how.config_agreement;
    plain.watch_wall_clock = how.watch_wall_clock;
    plain.fencing = how.fencing;
    redlock_error why{};
    why.size = sizeof(why);
    const int code = redlock_open_config(&plain, &why, &of->raw);
    if (code != REDLOCK_OK)
        return outcome{code, *why.text ? why.text : redlock_strerror(code)};
    return client(std::move(of));
}

inline void redlock::client::close() noexcept
{
    if (!get())
        return;
    redlock_close(get());
    if (border::within(of_.get()))
        (void)new std::shared_ptr<shared>(of_); /* it lives on, as redlock_close() has logged */
    else
        of_->raw = nullptr;
    of_.reset();
}

template <class Call>
redlock::result<redlock::lock> redlock::client::take(const options &how, Call call)
{
    if (!get())
        return told(nullptr, REDLOCK_EINVAL);
    held taken = hold::make(of_, how);
    redlock_options plain = taken->wanted(how);
    plain.report = room(how.votes);
    const int code = call(get(), &plain, &taken->raw);
    cut(how.votes);
    if (code != REDLOCK_OK)
        return told(get(), code);
    return lock(std::move(taken));
}

template <class Call>
redlock::result<std::uint64_t> redlock::client::begin(const options &how, done_fn done, Call call)
{
    if (!get())
        return told(nullptr, REDLOCK_EINVAL);
    std::unique_ptr<trial> begun(new trial{hold::make(of_, how), std::move(done), how.votes});
    redlock_options plain = begun->taken->wanted(how);
    plain.report = room(how.votes);
    std::uint64_t id = 0;
    const int code = call(get(), &plain, begun.get(), &id);
    if (code != REDLOCK_OK)
        return told(get(), code);
    (void)begun.release();
    return id;
}

inline redlock::result<redlock::lock> redlock::client::try_lock(std::string_view name,
                                                                const options &how)
{
    return take(how, [&](redlock *of, const redlock_options *plain, redlock_lock **ret) {
        return redlock_try_n(of, name.data(), name.size(), plain, ret);
    });
}

inline redlock::result<redlock::lock>
redlock::client::try_names(const std::vector<std::string_view> &names, const options &how)
{
    const std::vector<redlock_bytes> all = bytes_of(names);
    return take(how, [&](redlock *of, const redlock_options *plain, redlock_lock **ret) {
        return redlock_try_names_n(of, all.data(), all.size(), plain, ret);
    });
}

inline redlock::result<std::uint64_t>
redlock::client::try_lock_async(std::string_view name, const options &how, done_fn done)
{
    return begin(how, std::move(done),
                 [&](redlock *of, const redlock_options *plain, trial *begun, std::uint64_t *id) {
                     return redlock_try_async_n(of, name.data(), name.size(), plain,
                                                &trial::over, begun, id);
                 });
}

inline redlock::result<std::uint64_t>
redlock::client::try_names_async(const std::vector<std::string_view> &names, const options &how,
                                 done_fn done)
{
    const std::vector<redlock_bytes> all = bytes_of(names);
    return begin(how, std::move(done),
                 [&](redlock *of, const redlock_options *plain, trial *begun, std::uint64_t *id) {
                     return redlock_try_names_async_n(of, all.data(), all.size(), plain,
                                                      &trial::over, begun, id);
                 });
}

#if defined(__cpp_lib_jthread)
inline redlock::result<redlock::lock>
redlock::client::try_lock(std::string_view name, const options &how, std::stop_token stop)
{
    if (!get() || border::within(of_.get()))
        return told(nullptr, get() ? REDLOCK_EDEADLK : REDLOCK_EINVAL);
    std::promise<result<lock>> told_there;
    auto here = told_there.get_future();
    const auto id = try_lock_async(name, how, [&](result<lock> got) {
        told_there.set_value(std::move(got));
    });
    if (!id)
        return outcome{id.code(), id.text()};
    const std::stop_callback on_stop(stop, [&] { (void)redlock_cancel(get(), *id); });
    return here.get();
}
#endif

inline redlock::result<redlock::lock> redlock::client::attach(const std::string &text)
{
    return take(options{}, [&](redlock *of, const redlock_options *, redlock_lock **ret) {
        return redlock_attach(of, text.c_str(), ret);
    });
}

inline redlock::result<int> redlock::client::fd()
{
    const int got = redlock_fd(get());
    if (got < 0)
        return told(get(), got);
    return got;
}

inline redlock::lock_info redlock::client::inspect(std::string_view name,
                                                   const std::string &owner)
{
    lock_info told;
    told.holders.resize((REDLOCK_NODES_MAX + 1) * REDLOCK_HOLDERS_SHOWN);
    redlock_lock_info &sums = *room(told.sums, told.nodes);
    sums.holder_size = sizeof(redlock_holder);
    sums.holder = told.holders.data();
    sums.holder_max = static_cast<unsigned>(told.holders.size());
    told.code = redlock_inspect_n(get(), name.data(), name.size(),
                                  owner.empty() ? nullptr : owner.c_str(), &sums);
    cut(sums, told.nodes);
    told.holders.resize(sums.holder_count);
    sums.holder = nullptr;
    return told;
}

inline redlock::outcome redlock::client::force_release(std::string_view name, bool endless,
                                                       report *votes)
{
    const int code = redlock_force_release_n(get(), name.data(), name.size(),
                                             endless ? REDLOCK_ON : REDLOCK_OFF, room(votes));
    cut(votes);
    return told(get(), code);
}

template <class Call> redlock::status_report redlock::client::look(Call call)
{
    status_report told;
    told.code = call(get(), room(told.sums, told.nodes));
    cut(told.sums, told.nodes);
    return told;
}

inline redlock::status_report redlock::client::probe(const std::string &prefix)
{
    return look([&](redlock *of, redlock_status_report *ret) {
        return redlock_probe(of, prefix.empty() ? nullptr : prefix.c_str(), ret);
    });
}

inline redlock::result<redlock_stats> redlock::client::stats()
{
    redlock_stats counted{};
    counted.size = sizeof(counted);
    const int code = redlock_get_stats(get(), &counted);
    if (code != REDLOCK_OK)
        return told(get(), code);
    return counted;
}

inline redlock::result<std::vector<redlock::lock>>
redlock::try_lock_all(const std::vector<item> &items, milliseconds wait)
{
    std::vector<held> taken;
    std::vector<redlock_options> wanted(items.size());
    std::vector<redlock_item> all(items.size());
    for (std::size_t i = 0; i < items.size(); i++) {
        taken.push_back(hold::make(items[i].of->of_, items[i].how));
        wanted[i] = taken[i]->wanted(items[i].how);
        wanted[i].wait_ms = 0;
        all[i].size = sizeof(all[i]);
        all[i].client = items[i].of->get();
        all[i].name = items[i].name.data();
        all[i].name_len = items[i].name.size();
        if (items[i].name.empty())
            all[i].name = ""; /* of length 0 it is a C string */
        all[i].options = &wanted[i];
    }
    std::vector<lock> locks;
    locks.reserve(items.size()); /* nothing throws once they are taken */
    const int code = redlock_try_multi(all.data(), all.size(), wait.count());
    if (code != REDLOCK_OK) /* in the words of the client that refused, if one did */
        return told(items.empty() ? nullptr : items[0].of->get(), code);
    for (std::size_t i = 0; i < items.size(); i++) {
        taken[i]->raw = all[i].lock;
        locks.push_back(lock(std::move(taken[i])));
    }
    return locks;
}

#endif /* REDLOCK_HPP */
