// Driver.java - Spring Integration's RedisLockRegistry as a client of tests/interop/suite.py, see
// docs/INTEROP.md.
//
// It knows one master; the first of the list is taken. Its keys begin with the name of the
// registry, here "spring:". Its locks are spin locks, as by default: the other type sleeps until
// a message of Spring's own. A thread is an owner; this program has one. All settings are at
// their defaults, but for the TTL.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ConcurrentModificationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

public final class Driver {
    private RedisLockRegistry registry;
    private String name;
    private Lock lock;

    private String hello(String[] words) throws InterruptedException {
        // hello 1 ttl_ms N nodes redis://HOST:PORT...
        String[] address = words[5].substring("redis://".length()).split(":");
        LettuceConnectionFactory factory = new LettuceConnectionFactory(
                new RedisStandaloneConfiguration(address[0], Integer.parseInt(address[1])));
        factory.afterPropertiesSet();
        factory.start();
        registry = new RedisLockRegistry(factory, "spring", Long.parseLong(words[3]));
        registry.setRedisLockType(RedisLockType.SPIN_LOCK);
        // Java takes long for the first one.
        acquire("first-" + ProcessHandle.current().pid(), 0);
        lock.unlock();
        return "ok Spring Integration "
                + RedisLockRegistry.class.getPackage().getImplementationVersion();
    }

    private String acquire(String wanted, long waitMs) throws InterruptedException {
        name = wanted;
        lock = registry.obtain(name);
        boolean got = waitMs > 0 ? lock.tryLock(waitMs, TimeUnit.MILLISECONDS) : lock.tryLock();
        return got ? "ok" : "no held";
    }

    private String answer(String[] words) throws InterruptedException {
        try {
            switch (words[0]) {
            case "hello":
                return hello(words);
            case "acquire":
                return acquire(words[1], Long.parseLong(words[2]));
            case "extend":
                registry.renewLock(name);
                return "ok";
            case "release":
                lock.unlock();
                return "ok";
            default:
                return "no such verb";
            }
        } catch (ConcurrentModificationException | IllegalStateException lost) {
            return "gone " + oneLine(lost);
        } catch (RuntimeException error) {
            return "no " + oneLine(error);
        }
    }

    private static String oneLine(Throwable error) {
        String text = error.toString().replaceAll("\\s+", " ");
        return text.substring(0, Math.min(200, text.length()));
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        Driver driver = new Driver();
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.equals("quit")) {
                break;
            }
            System.out.println(driver.answer(line.split(" ")));
            System.out.flush();
        }
        Runtime.getRuntime().halt(0);
    }
}
