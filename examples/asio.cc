/* asio.cc - a lock in a loop of Asio, with coroutines: nothing blocks, and `co_await` waits.
 *
 *   asio NODES NAME
 *
 * Waits for the lock NAME, adds one to the number in the file ./counter ten times, with some
 * work before each, and gives the lock back. It is renewed meanwhile, however short its lease
 * is. TERM and INT end it before its time. What ties the library to the loop is the class
 * `driver`, and what makes its calls awaitable are take() and give_back(). The rest is the
 * same in poll.c.
 *
 * It needs C++20, and Asio by itself; with Boost's, say boost::asio.
 */
#include <redlock.hpp>

#include <asio.hpp>
#include <csignal>
#include <fstream>
#include <iostream>

using namespace std::chrono_literals;

constexpr auto wait_time = 30s; /* for others to be done, at most */
constexpr int all_steps = 10;
constexpr auto work_time = 150ms;   /* of a step */
constexpr auto effect_time = 100ms; /* what writing the number may take at the very most */

/* ---- the library in the loop ------------------------------------------------------------ */

class driver {
public:
    /* The first fd() says that this loop drives the client from now on. */
    driver(asio::io_context &loop, redlock::client &client)
        : client_(client), readable_(loop, client.fd().value()), deadline_(loop)
    {
        asio::co_spawn(loop, when_readable(), asio::detached);
        asio::co_spawn(loop, when_due(), asio::detached);
    }
    driver(const driver &) = delete;
    driver &operator=(const driver &) = delete;
    ~driver() { readable_.release(); } /* the client closes it */

    redlock::client &client() { return client_; }
    auto executor() { return deadline_.get_executor(); }

    /* Call it after each asynchronous call that is not made in one of the library's callbacks:
     * it may have to be woken earlier than before. Who waits for the deadline sees the new one. */
    void arm()
    {
        const int ms = client_.timeout_ms();
        deadline_.expires_after(ms < 0 ? 24h : std::chrono::milliseconds{ms});
    }

private:
    void drive()
    {
        (void)client_.process(); /* runs the callbacks */
        arm();
    }
    asio::awaitable<void> when_readable()
    {
        for (;;) {
            co_await readable_.async_wait(readable_.wait_read, asio::use_awaitable);
            drive();
        }
    }
    asio::awaitable<void> when_due()
    {
        for (arm();;) {
            asio::error_code moved;
            co_await deadline_.async_wait(asio::redirect_error(asio::use_awaitable, moved));
            if (!moved)
                drive();
        }
    }

    redlock::client &client_;
    asio::posix::stream_descriptor readable_;
    asio::steady_timer deadline_;
};

/* Begins a call, and waits for what it calls back with. begin(done) calls done(told) once,
 * now or later. Whoever waits goes on in the loop, and not within the library. */
template <class Told, class Begin> asio::awaitable<Told> told_by(driver &by, Begin begin)
{
    auto initiate = [&by, begin](auto handler) {
        auto waiting = std::make_shared<decltype(handler)>(std::move(handler));
        begin([&by, waiting](Told told) {
            auto kept = std::make_shared<Told>(std::move(told));
            asio::post(by.executor(), [waiting, kept] { (*waiting)(std::move(*kept)); });
        });
        by.arm();
    };
    return asio::async_initiate<decltype(asio::use_awaitable), void(Told)>(initiate,
                                                                           asio::use_awaitable);
}

using taken = redlock::result<redlock::lock>;

asio::awaitable<taken> take(driver &by, const std::string &name, const redlock::options &how)
{
    co_return co_await told_by<taken>(by, [&](std::function<void(taken)> done) {
        const auto begun = by.client().try_lock_async(name, how, done);
        if (!begun) /* it could not be begun: there will be no call */
            done(redlock::outcome{begun.code(), begun.text()});
    });
}

asio::awaitable<redlock::outcome> give_back(driver &by, redlock::lock &lock)
{
    co_return co_await told_by<redlock::outcome>(
        by, [&](std::function<void(redlock::outcome)> done) {
            const auto begun = lock.release_async(done);
            if (!begun)
                done(begun);
        });
}

/* ---- the lock, and the work under it ---------------------------------------------------- */

long read_number()
{
    long number = 0;
    std::ifstream("counter") >> number;
    return number;
}

bool write_number(long number)
{
    std::ofstream file("counter");
    file << number << '\n';
    file.close();
    return !file.fail();
}

struct service {
    driver &by;
    asio::steady_timer work;
    bool over = false; /* no step may begin, or have an effect */
    int steps = 0;     /* that were done */

    explicit service(driver &of) : by(of), work(of.executor()) {}
    void end()
    {
        over = true;
        work.cancel();
    }
    asio::awaitable<void> do_steps(const redlock::lock &lock);
    asio::awaitable<void> run(std::string name);
};

asio::awaitable<void> service::do_steps(const redlock::lock &lock)
{
    while (!over && steps < all_steps) {
        const long number = read_number();
        asio::error_code ended;
        work.expires_after(work_time); /* the real work would begin here */
        co_await work.async_wait(asio::redirect_error(asio::use_awaitable, ended));
        if (over)
            break;
        /* Right before the effect, and with the time that it takes: earlier says nothing. */
        if (lock.validity() < effect_time) {
            std::cerr << "too late to write\n";
            break;
        }
        if (!write_number(number + 1)) {
            std::cerr << "counter can't be written\n";
            break;
        }
        steps++;
    }
}

asio::awaitable<void> service::run(std::string name)
{
    redlock::options how;
    how.wait = wait_time;
    how.auto_renew = true;
    how.on_lost = [this](const redlock::hold_report &) { /* its validity is 0 */
        std::cerr << "lost the lock\n";
        end();
    };
    std::cout << "waiting for " << name << std::endl;
    taken lock = co_await take(by, name, how);
    if (!lock) {
        std::cerr << "not taken: " << lock.text() << '\n';
        co_return;
    }
    std::cout << "taken" << std::endl;
    co_await do_steps(*lock);
    const redlock::outcome released = co_await give_back(by, *lock);
    if (!released)
        std::cerr << "releasing: " << released.text << '\n';
}

/* ---- the loop --------------------------------------------------------------------------- */

int run(redlock::client &client, const std::string &name)
{
    asio::io_context loop;
    driver by(loop, client);
    service counting(by);
    asio::signal_set signals(loop, SIGTERM, SIGINT);
    /* Who waits for the lock stops waiting; who has it gives it back. */
    signals.async_wait([&](asio::error_code none, int) {
        if (none)
            return;
        client.shutdown();
        counting.end();
        by.arm();
    });
    asio::co_spawn(loop, counting.run(name), [&](std::exception_ptr thrown) {
        loop.stop();
        if (thrown)
            std::rethrow_exception(thrown);
    });
    loop.run();
    std::cout << counting.steps << " steps" << std::endl;
    return counting.steps == all_steps ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::cerr << "usage: asio NODES NAME\n";
        return 64;
    }
    try {
        redlock::client client{std::string(argv[1])};
        return run(client, argv[2]);
    } catch (const std::exception &why) {
        std::cerr << why.what() << '\n';
        return 1;
    }
}
