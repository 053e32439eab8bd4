// Driver.java - Redisson as a client of tests/interop/suite.py, see docs/INTEROP.md.
//
// A line is worked on by the thread that it names: to Redisson a thread is an owner. All settings
// are Redisson's own, but for the watchdog's timeout, which is the hello's TTL.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

public final class Driver {
    // One client a master; the locks that need one master are the first one's.
    private List<RedissonClient> clients;
    private final Map<String, ExecutorService> threads = new HashMap<>();

    private static RedissonClient connect(String url, long ttlMs) {
        Config config = new Config();
        config.setCodec(StringCodec.INSTANCE);
        config.setLockWatchdogTimeout(ttlMs);
        Connect.to(config, url);
        return Redisson.create(config);
    }

    private String hello(String[] words) {
        // hello 1 ttl_ms N nodes URL...
        long ttlMs = Long.parseLong(words[3]);
        clients = Arrays.stream(words, 5, words.length)
                .map(url -> connect(url, ttlMs))
                .collect(Collectors.toList());
        return "ok Redisson " + Redisson.class.getPackage().getImplementationVersion();
    }

    // Redisson 3.17.7 has no RFencedLock, and the driver is compiled for that one, too.
    private static RLock fenced(RedissonClient client, String name) {
        try {
            return (RLock) RedissonClient.class.getMethod("getFencedLock", String.class)
                    .invoke(client, name);
        } catch (ReflectiveOperationException none) {
            throw new UnsupportedOperationException(none);
        }
    }

    private static Object call(RLock lock, String method, Class<?>[] types, Object... arguments) {
        try {
            return Class.forName("org.redisson.api.RFencedLock").getMethod(method, types)
                    .invoke(lock, arguments);
        } catch (ReflectiveOperationException failed) {
            throw new IllegalStateException(failed.getCause() != null ? failed.getCause() : failed);
        }
    }

    private RLock one(RedissonClient client, String name, String kind) {
        switch (kind) {
        case "reentrant":
            return client.getLock(name);
        case "fair":
            return client.getFairLock(name);
        case "read":
            return client.getReadWriteLock(name).readLock();
        case "write":
            return client.getReadWriteLock(name).writeLock();
        case "fenced":
            return fenced(client, name);
        default:
            throw new IllegalArgumentException("not a kind of lock: " + kind);
        }
    }

    // More masters: RedissonRedLock over them. More names, parted by commas: RedissonMultiLock.
    @SuppressWarnings("deprecation")
    private RLock lock(String name, String kind) {
        if (name.contains(",")) {
            return clients.get(0).getMultiLock(Stream.of(name.split(","))
                    .map(each -> one(clients.get(0), each, kind))
                    .toArray(RLock[]::new));
        }
        if (clients.size() == 1) {
            return one(clients.get(0), name, kind);
        }
        return clients.get(0).getRedLock(
                clients.stream().map(client -> one(client, name, kind)).toArray(RLock[]::new));
    }

    // With a lease of -1 the watchdog renews it. (tryLockAndGetToken() waits without end.)
    private static String acquireWithToken(RLock lock, long waitMs, long leaseMs) {
        Class<?>[] types = {long.class, long.class, TimeUnit.class};
        Object token = call(lock, "tryLockAndGetToken", types, waitMs, leaseMs,
                TimeUnit.MILLISECONDS);
        return token != null ? "ok " + token : "no held";
    }

    // acquire NAME WAIT_MS KIND [LEASE_MS]; without a lease the watchdog renews it.
    private String acquire(String[] words) throws InterruptedException {
        RLock lock = lock(words[1], words[3]);
        long waitMs = Long.parseLong(words[2]);
        if (words[3].equals("fenced")) {
            return acquireWithToken(lock, waitMs, words.length > 4 ? Long.parseLong(words[4]) : -1);
        }
        boolean got;
        if (words.length > 4) {
            got = lock.tryLock(waitMs, Long.parseLong(words[4]), TimeUnit.MILLISECONDS);
        } else if (waitMs > 0) {
            got = lock.tryLock(waitMs, TimeUnit.MILLISECONDS);
        } else {
            got = lock.tryLock();
        }
        return got ? "ok" : "no held";
    }

    private String release(RLock lock) {
        try {
            lock.unlock();
            return "ok";
        } catch (IllegalMonitorStateException notOurs) {
            return "gone " + oneLine(notOurs);
        }
    }

    private String answer(String[] words) throws InterruptedException {
        switch (words[0]) {
        case "acquire":
            return acquire(words);
        case "release":
            return release(lock(words[1], words[2]));
        case "held":
            return "ok " + (lock(words[1], words[2]).isHeldByCurrentThread() ? 1 : 0);
        case "locked":
            return "ok " + (lock(words[1], words[2]).isLocked() ? 1 : 0);
        case "count":
            return "ok " + lock(words[1], words[2]).getHoldCount();
        case "token":
            return "ok " + call(lock(words[1], words[2]), "getToken", new Class<?>[0]);
        case "left":
            return "ok " + lock(words[1], words[2]).remainTimeToLive();
        case "force":
            return lock(words[1], words[2]).forceUnlock() ? "ok" : "no lock";
        default:
            return "no such verb";
        }
    }

    private static String oneLine(Throwable error) {
        String text = error.toString().replaceAll("\\s+", " ");
        return text.substring(0, Math.min(200, text.length()));
    }

    private static synchronized void say(String text) {
        byte[] line = (text + "\n").getBytes(StandardCharsets.UTF_8);
        System.out.write(line, 0, line.length);
        System.out.flush();
    }

    private void workOn(String tag, String[] words) {
        String answer;
        try {
            answer = answer(words);
        } catch (Exception error) {
            answer = "no " + oneLine(error);
        }
        say(tag + answer);
    }

    // "@ann acquire ..." is for the thread ann.
    private void take(String line) {
        String tag = line.startsWith("@") ? line.substring(0, line.indexOf(' ') + 1) : "";
        String[] words = line.substring(tag.length()).split(" ");
        if (words[0].equals("hello")) {
            say(hello(words));
            return;
        }
        threads.computeIfAbsent(tag, name -> Executors.newSingleThreadExecutor())
                .execute(() -> workOn(tag, words));
    }

    public static void main(String[] args) throws IOException {
        Driver driver = new Driver();
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.equals("quit")) {
                // Redisson deletes a latch after each release, and nobody waits for that.
                driver.clients.forEach(client -> client.shutdown(0, 5, TimeUnit.SECONDS));
                break;
            }
            driver.take(line);
        }
        Runtime.getRuntime().halt(0);
    }
}
