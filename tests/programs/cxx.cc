/* cxx.cc - redlock.hpp on real masters. Its arguments are the masters' URLs. cxx_test.sh builds
 * it in several ways and runs it. */
#include <redlock.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <type_traits>
#include <unistd.h>

using namespace std::chrono_literals;

#define CHECK(condition)                                                                       \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);               \
            std::abort();                                                                      \
        }                                                                                      \
    } while (0)

static_assert(!std::is_copy_constructible_v<redlock::lock>, "two would release it");
static_assert(std::is_nothrow_move_constructible_v<redlock::lock>, "for containers");
static_assert(std::is_nothrow_move_assignable_v<redlock::lock>, "for containers");
static_assert(!std::is_copy_constructible_v<redlock::client>, "two would close it");
static_assert(std::is_nothrow_move_constructible_v<redlock::client>, "for containers");

static std::vector<std::string> urls;

static redlock::config masters()
{
    redlock::config how;
    for (const std::string &url : urls) {
        redlock::node one;
        one.url = url;
        how.nodes.push_back(one);
    }
    how.guard = REDLOCK_OFF;
    return how;
}

/* Something that a callback tells, awaited. */
class event {
public:
    void tell()
    {
        const std::lock_guard<std::mutex> guard(mutex_);
        count_++;
        told_.notify_all();
    }
    bool await(unsigned count = 1)
    {
        std::unique_lock<std::mutex> guard(mutex_);
        return told_.wait_for(guard, 20s, [&] { return count_ >= count; });
    }

private:
    std::mutex mutex_;
    std::condition_variable told_;
    unsigned count_ = 0;
};

static void errors_have_code_and_text()
{
    const auto none = redlock::client::open("redis://a,redis://b");
    CHECK(!none && none.code() == REDLOCK_ECONFIG);
    CHECK(none.text().find("apart by blanks") != std::string::npos);
    try {
        const redlock::client thrown{"/no/such/list"};
        CHECK(false);
    } catch (const redlock::error &why) {
        CHECK(why.code() == REDLOCK_ECONFIG);
        CHECK(std::string(why.what()).find("No such file") != std::string::npos);
    }
    redlock::client client{masters()};
    const auto unnamed = client.try_lock("");
    CHECK(unnamed.code() == REDLOCK_EINVAL && unnamed.text() != redlock_strerror(REDLOCK_EINVAL));
    CHECK(client.force_release("").code == REDLOCK_EINVAL);
}

static void lock_releases_itself()
{
    redlock::client ours{masters()}, theirs{masters()};
    redlock::options how;
    int released = 1;
    how.ttl = 5s;
    how.on_release = [&](const redlock::outcome &what) { released = what.code; };
    {
        auto lock = ours.try_lock("cxx", how).value();
        CHECK(lock && lock.validity() > 0s && lock.validity() <= 5s);
        CHECK(lock.name() == "cxx" && lock.names().size() == 1 && !lock.token().empty());
        redlock::report votes;
        redlock::options once;
        once.votes = &votes;
        const auto held = theirs.try_lock("cxx", once);
        CHECK(!held && held.code() == REDLOCK_EHELD && !held.text().empty());
        CHECK(votes.nodes.size() == urls.size() && votes.sums.held >= 2);
        CHECK(lock.extend(8s) && lock.validity() > 5s);
        CHECK(lock.get_hold().sums.loss == REDLOCK_LOSS_NONE);
        CHECK(released == 1);
    }
    CHECK(released == REDLOCK_OK);
    CHECK(theirs.try_lock("cxx"));
}

static void lock_moves()
{
    redlock::client client{masters()};
    redlock::lock one = client.try_lock("cxx").value();
    redlock::lock two = std::move(one);
    CHECK(!one && two && one.validity() == 0ms && one.names().empty() && one.token().empty());
    CHECK(one.release().code == REDLOCK_ENOTHELD && one.extend().code == REDLOCK_ENOTHELD);
    CHECK(one.handle().code() == REDLOCK_ENOTHELD && one.fencing_token() == 0);
    one = client.try_lock("cxx2").value();
    one = std::move(two); /* cxx2 is released */
    CHECK(one.name() == "cxx" && client.try_lock("cxx2"));
    CHECK(one.release() && one.release().code == REDLOCK_ENOTHELD);
    redlock::client moved = std::move(client);
    CHECK(!client.try_lock("cxx") && moved.try_lock("cxx"));
    CHECK(client.status().code == REDLOCK_EINVAL && client.inspect("x").code == REDLOCK_EINVAL);
}

static void client_may_end_first()
{
    redlock::lock lock;
    {
        redlock::client client{masters()};
        lock = client.try_lock("cxx").value();
        CHECK(lock);
    }
    CHECK(!lock && lock.release().code == REDLOCK_ENOTHELD);
    CHECK(redlock::client{masters()}.try_lock("cxx"));
}

static void loss_is_told_with_its_reason()
{
    redlock::client client{masters()};
    redlock::options how;
    std::string why;
    event told;
    how.auto_renew = true;
    how.max_hold = 200ms;
    how.on_lost = [&](const redlock::hold_report &report) {
        CHECK(report && report.sums.loss == REDLOCK_LOSS_MAX_HOLD);
        why = report.text();
        told.tell();
    };
    auto lock = client.try_lock("cxx", how).value();
    CHECK(told.await() && !why.empty() && !lock);
}

/* In a callback nothing may block: the lock is released behind it. */
static void lock_may_end_in_its_callback()
{
    redlock::client client{masters()};
    redlock::options how;
    redlock::lock lock;
    std::mutex mutex;
    event told, released;
    how.auto_renew = true;
    how.max_hold = 200ms;
    how.on_release = [&](const redlock::outcome &) { released.tell(); };
    how.on_lost = [&](const redlock::hold_report &) {
        const std::lock_guard<std::mutex> guard(mutex);
        CHECK(lock.release().code == REDLOCK_EDEADLK);
        lock = redlock::lock{};
        told.tell();
    };
    {
        const std::lock_guard<std::mutex> guard(mutex);
        lock = client.try_lock("cxx", how).value();
    }
    CHECK(told.await() && released.await());
    redlock::options wait;
    wait.wait = 5s;
    CHECK(client.try_lock("cxx", wait));
}

/* What is told when a lock ends may look at it, or take another one into its place. */
static void lock_may_be_filled_as_it_ends()
{
    redlock::client client{masters()};
    redlock::lock lock;
    redlock::options how;
    std::vector<int> codes;
    how.on_release = [&](const redlock::outcome &what) {
        codes.push_back(what.code);
        CHECK(lock.release().code == REDLOCK_ENOTHELD || codes.size() > 1);
        if (codes.size() == 1)
            lock = client.try_lock("again").value();
    };
    lock = client.try_lock("cxx", how).value();
    lock = redlock::lock{};
    CHECK(codes == std::vector<int>{REDLOCK_OK} && client.stats()->held <= 1);
    lock = redlock::lock{};
    CHECK(client.stats()->held == 0 && client.try_lock("again"));
}

/* A view of no bytes is no C string. */
static void empty_names_are_refused()
{
    redlock::client client{masters()};
    const std::string line = "orders:42";
    const std::string_view none = std::string_view(line).substr(0, 0);
    CHECK(client.try_lock(none).code() == REDLOCK_EINVAL);
    CHECK(redlock::try_lock_all({{&client, none, {}}}).code() == REDLOCK_EINVAL);
}

static void reports_can_be_copied()
{
    redlock::client client{masters()};
    auto lock = client.try_lock("cxx").value();
    redlock::hold_report copy;
    {
        const auto told = lock.get_hold();
        copy = told;
    }
    CHECK(copy.nodes.size() == urls.size() && copy.sums.node == nullptr);
    CHECK(client.status().sums.node == nullptr && client.inspect("x").sums.holder == nullptr);
}

static void exceptions_end_at_the_border()
{
    redlock::config with_hook = masters();
    event told;
    std::string what;
    with_hook.on_exception = [&](std::exception_ptr thrown) {
        try {
            std::rethrow_exception(thrown);
        } catch (const std::runtime_error &error) {
            what = error.what();
        }
        told.tell();
    };
    redlock::client client{with_hook};
    CHECK(client.try_lock_async("cxx", redlock::options{},
                                [](redlock::result<redlock::lock>) { throw std::runtime_error("ours"); }));
    CHECK(told.await() && what == "ours");
    redlock::options wait;
    wait.wait = 5s;
    CHECK(client.try_lock("cxx", wait)); /* what the callback did not keep was released */
}

static void log_has_lines()
{
    redlock::config talkative = masters();
    std::atomic<int> lines{0};
    talkative.log_level = REDLOCK_LOG_DEBUG;
    talkative.log = [&](int level, std::string_view text) {
        CHECK(level >= REDLOCK_LOG_ERROR && !text.empty());
        lines++;
    };
    CHECK(!redlock::client{talkative}.try_lock("") && lines > 0);
}

static void calls_need_not_block()
{
    redlock::client client{masters()};
    event granted, extended, released, canceled;
    redlock::lock lock;
    redlock::options how, wait;
    redlock::report votes;
    how.votes = &votes;
    wait.wait = redlock::forever;
    CHECK(client.try_lock_async("cxx", how, [&](redlock::result<redlock::lock> got) {
        lock = std::move(got).value();
        granted.tell();
    }));
    CHECK(granted.await() && lock && votes.nodes.size() == urls.size());
    CHECK(lock.extend_async(9s, [&](const redlock::outcome &what) {
        CHECK(what);
        extended.tell();
    }));
    CHECK(extended.await());
    const auto id = client.try_lock_async("cxx", wait, [&](redlock::result<redlock::lock> got) {
        CHECK(got.code() == REDLOCK_ECANCELED);
        canceled.tell();
    });
    CHECK(id && client.cancel(*id) && canceled.await());
    CHECK(lock.release_async([&](const redlock::outcome &what) {
        CHECK(what);
        released.tell();
    }));
    CHECK(released.await() && !lock);
    CHECK(client.try_names_async({"cxx", "cxx2"}, how, [&](redlock::result<redlock::lock> got) {
        CHECK(got && got->names().size() == 2);
        granted.tell(); /* it ends here */
    }));
    CHECK(granted.await(2));
}

static void close_calls_back()
{
    event canceled;
    redlock::client other{masters()};
    const auto held = other.try_lock("cxx");
    CHECK(held);
    {
        redlock::client client{masters()};
        redlock::options wait;
        wait.wait = redlock::forever;
        for (int i = 0; i < 8; i++)
            CHECK(client.try_lock_async("cxx", wait, [&](redlock::result<redlock::lock> got) {
                CHECK(!got && got.code() == REDLOCK_ECANCELED);
                canceled.tell();
            }));
    }
    CHECK(canceled.await(8));
}

static void event_loop_drives_it()
{
    redlock::client client{masters()};
    CHECK(client.fd() && *client.fd() >= 0);
    bool done = false;
    CHECK(client.try_lock_async("cxx", redlock::options{},
                                [&](redlock::result<redlock::lock> got) {
                                    CHECK(got);
                                    done = true;
                                }));
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!done && std::chrono::steady_clock::now() < end) {
        (void)client.timeout_ms();
        CHECK(client.process());
        std::this_thread::sleep_for(1ms);
    }
    CHECK(done);
}

static void several_names_and_clients()
{
    redlock::client one{masters()}, two{masters()};
    auto both = one.try_names({"cxx", "cxx2"}).value();
    CHECK(both.names().size() == 2 && both.names()[1] == "cxx2");
    CHECK(!redlock::try_lock_all({{&one, "cxx3", {}}, {&two, "cxx2", {}}}));
    CHECK(both.release());
    auto all = redlock::try_lock_all({{&one, "cxx3", {}}, {&two, "cxx2", {}}}, 5s).value();
    CHECK(all.size() == 2 && all[0].name() == "cxx3" && all[1]);
    all.clear();
    CHECK(two.try_names({"cxx2", "cxx3"}));
}

static void looking_tells_holders()
{
    redlock::client client{masters()};
    redlock::options fenced;
    fenced.fenced = true;
    auto lock = client.try_lock("cxx", fenced).value();
    CHECK(lock.fencing_token() > 0);
    const auto info = client.inspect("cxx");
    CHECK(info && info.sums.state == REDLOCK_STATE_PLAIN && info.nodes.size() == urls.size());
    CHECK(info.holders.size() > 0 && lock.token() == info.holders[0].owner);
    const auto status = client.status();
    CHECK(status && status.nodes.size() == urls.size() && status.sums.ready >= 2);
    CHECK(client.probe().sums.proven >= 2);
    CHECK(client.stats()->held == 1);
    const auto text = lock.detach();
    CHECK(text && !lock && !client.attach("nonsense"));
    auto again = client.attach(*text).value();
    CHECK(again && again.handle());
    redlock::report votes;
    CHECK(client.force_release("cxx", false, &votes) && votes.nodes.size() == urls.size());
    CHECK(again.release().code == REDLOCK_EEXPIRED);
}

static void kinds_and_owners()
{
    redlock::client client{masters()};
    redlock::options how;
    how.kind = redlock::kind::reentrant;
    how.owner = "me";
    auto outer = client.try_lock("cxx", how), inner = client.try_lock("cxx", how);
    CHECK(outer && inner);
    how.owner = "you";
    CHECK(client.try_lock("cxx", how).code() == REDLOCK_EHELD);
    how.kind = redlock::kind::plain;
    CHECK(client.try_lock("cxx", how).code() == REDLOCK_EINVAL);
}

static void child_sends_nothing()
{
    redlock::client client{masters()};
    auto lock = client.try_lock("cxx").value();
    const pid_t child = fork();
    if (child == 0) {
        CHECK(!lock && lock.release().code == REDLOCK_EFORK);
        lock = redlock::lock{};
        std::_Exit(client.try_lock("cxx2").code() == REDLOCK_EFORK ? 0 : 1);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(lock && lock.release());
}

static void many_threads_share_a_client()
{
    redlock::client client{masters()};
    std::vector<std::thread> threads;
    int shared = 0; /* no mutex but the lock */
    for (int i = 0; i < 8; i++)
        threads.emplace_back([&] {
            redlock::options how;
            how.wait = 60s;
            for (int j = 0; j < 25; j++) {
                const auto lock = client.try_lock("cxx", how).value();
                shared++;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK(shared == 200);
}

#if defined(__cpp_lib_jthread)
static void stop_ends_a_wait()
{
    redlock::client client{masters()}, other{masters()};
    const auto held = other.try_lock("cxx");
    redlock::options wait;
    wait.wait = redlock::forever;
    std::stop_source stop;
    std::thread soon([&] {
        std::this_thread::sleep_for(50ms);
        stop.request_stop();
    });
    CHECK(held && client.try_lock("cxx", wait, stop.get_token()).code() == REDLOCK_ECANCELED);
    soon.join();
    CHECK(client.try_lock("cxx2", wait, std::stop_token{}));
}
#endif

int main(int argc, char **argv)
{
    urls.assign(argv + 1, argv + argc);
    errors_have_code_and_text();
    lock_releases_itself();
    lock_moves();
    client_may_end_first();
    loss_is_told_with_its_reason();
    lock_may_end_in_its_callback();
    lock_may_be_filled_as_it_ends();
    empty_names_are_refused();
    reports_can_be_copied();
    exceptions_end_at_the_border();
    log_has_lines();
    calls_need_not_block();
    close_calls_back();
    event_loop_drives_it();
    several_names_and_clients();
    looking_tells_holders();
    kinds_and_owners();
    child_sends_nothing();
    many_threads_share_a_client();
#if defined(__cpp_lib_jthread)
    stop_ends_a_wait();
#endif
    std::puts("all of it");
    return 0;
}
