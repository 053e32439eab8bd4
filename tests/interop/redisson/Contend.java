// Contend.java - Redisson in Sentinel mode as the users of tests/failover/suite.py: what contend.c
// does, with the same arguments and the same lines.
//
//     Contend LIST DIRECTORY NAMES CONTENDERS IDLE TTL_MS WHO SOURCE
//
// All settings are Redisson's own: checkLockSyncedSlaves is on, slavesSyncTimeout 1000 ms. To it a
// thread is an owner, so contenders are threads of one client, and idle ones of another.
// Each try has a lease and no wait, and is made again after a pause. So a hold is never longer than
// its user can know: it ends when the release is begun, or a lease after its try was begun.

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.NettyHook;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

public final class Contend {
    private static final int THIRDS = 3;
    private static final int LOOK_MS = 4;
    private static final int RETRY_MS = 20;
    private static final int FAILED_MS = 20;
    private static final int WAIT_MS = 2000;
    private static final int LONG_WAIT_MS = 6000;
    private static final int IDLE_HOLD_MS = 400;
    private static final int END_MS = 10000;
    private static final int MARK_BYTES = 16;

    private final String list;
    private final String who;
    private final String source;
    private final int names;
    private final int contenders;
    private final int idle;
    private final long ttlMs;
    private final FileChannel[] files;
    private final int[] turn = new int[THIRDS]; // of the idle ones, under this object's lock
    private volatile boolean over;

    private Contend(String[] args) throws IOException {
        list = new String(Files.readAllBytes(Path.of(args[0])), StandardCharsets.US_ASCII);
        names = Integer.parseInt(args[2]);
        contenders = Integer.parseInt(args[3]);
        idle = Integer.parseInt(args[4]);
        ttlMs = Long.parseLong(args[5]);
        who = args[6];
        source = args[7];
        files = new FileChannel[names + idle / THIRDS];
        for (int i = 0; i < files.length; i++) {
            files[i] = FileChannel.open(Path.of(args[1], "guarded-" + i), StandardOpenOption.READ,
                    StandardOpenOption.WRITE, StandardOpenOption.CREATE);
        }
    }

    // What is cut off is an address, so that each connection begins at ours.
    private final class FromSource implements NettyHook {
        @Override
        public void afterBoostrapInitialization(Bootstrap bootstrap) {
            bootstrap.localAddress(new InetSocketAddress(source, 0));
        }

        @Override
        public void afterChannelInitialization(Channel channel) {
        }
    }

    private RedissonClient open() {
        Matcher node = Pattern.compile("node (\\S+)").matcher(list);
        if (!node.find()) {
            throw new IllegalArgumentException("no node in the list: " + list);
        }
        Config config = new Config();
        config.setCodec(StringCodec.INSTANCE);
        config.setNettyHook(new FromSource());
        Connect.to(config, node.group(1));
        return Redisson.create(config);
    }

    private static long nowUs() {
        return System.nanoTime() / 1000; // the kernel's monotonic clock, as in contend.c
    }

    private static void nap(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException none) {
            throw new IllegalStateException(none);
        }
    }

    private static synchronized void say(String text) {
        System.out.println(text);
        System.out.flush();
    }

    private boolean isMine(int name, ByteBuffer mark) throws IOException {
        ByteBuffer there = ByteBuffer.allocate(MARK_BYTES);
        files[name].read(there, 0);
        return there.flip().equals(mark.duplicate());
    }

    // `end`: when the lease is over that began with the try, or before.
    private void use(int user, int name, long end, long forUs) throws IOException {
        long begin = nowUs();
        String me = who + "-" + user + " " + name;
        ByteBuffer mark = ByteBuffer.allocate(MARK_BYTES)
                .putLong(ProcessHandle.current().pid() * 1000 + user).putLong(begin).flip();
        if (begin >= end) {
            return;
        }
        files[name].write(mark.duplicate(), 0);
        say("grant " + me + " " + begin);
        if (nowUs() >= end) { // a write that may have come too late: no lock keeps it away
            say("late " + me);
        }
        boolean trespassed = false;
        while (nowUs() < Math.min(end, begin + forUs) && !over) {
            nap(LOOK_MS);
            boolean mine = isMine(name, mark);
            trespassed |= !mine && nowUs() < end;
        }
        long now = nowUs();
        say("hold " + me + " " + begin + " " + Math.min(now, end) + " 0 " + (now < end ? 0 : 1));
        if (trespassed) {
            say("trespass " + me);
        }
    }

    private void take(RedissonClient client, int user, int name, long forUs, long waitMs) {
        RLock lock = client.getLock("failover:" + name);
        long until = nowUs() + waitMs * 1000;
        try {
            do {
                long asked = nowUs();
                if (lock.tryLock(0, ttlMs, TimeUnit.MILLISECONDS)) {
                    use(user, name, asked + ttlMs * 1000, forUs);
                    lock.unlock();
                    return;
                }
                nap(RETRY_MS);
            } while (nowUs() < until && !over);
        } catch (IllegalMonitorStateException gone) {
            return; // its lease was over, or its server has lost it
        } catch (Exception failed) {
            nap(FAILED_MS);
        }
    }

    private void contend(RedissonClient client, int user) {
        Random random = new Random();
        while (!over) {
            /* Mostly short, and sometimes for most of a lease: what is longer would be renewed. */
            long forUs = random.nextInt(8) != 0 ? 2000 + random.nextInt(60000)
                    : random.nextInt((int) (900 * ttlMs));
            take(client, user, random.nextInt(names), forUs, WAIT_MS);
        }
    }

    private void rest(RedissonClient client, int user) {
        int ofIdle = user - contenders;
        int third = ofIdle % THIRDS;
        boolean waits = third == 2;
        long forUs = waits ? 900 * ttlMs : Math.min(1000 * IDLE_HOLD_MS, 900 * ttlMs);
        int seen = 0;
        while (true) {
            synchronized (this) {
                while (!over && turn[third] == seen) {
                    try {
                        wait();
                    } catch (InterruptedException none) {
                        throw new IllegalStateException(none);
                    }
                }
                seen = turn[third];
            }
            if (over) {
                return;
            }
            take(client, user, names + ofIdle / THIRDS, forUs, waits ? LONG_WAIT_MS : 0);
        }
    }

    private synchronized void moment(int third) {
        if (third < 0) {
            over = true;
        } else {
            turn[third % THIRDS]++;
        }
        notifyAll();
    }

    private void run() throws IOException, InterruptedException {
        RedissonClient busy = open();
        RedissonClient resting = open();
        Thread[] users = new Thread[contenders + idle];
        for (int i = 0; i < users.length; i++) {
            int user = i;
            users[i] = new Thread(() -> {
                if (user < contenders) {
                    contend(busy, user);
                } else {
                    rest(resting, user);
                }
            });
            users[i].setDaemon(true);
            users[i].start();
        }
        for (int moment = System.in.read(); moment >= 0; moment = System.in.read()) {
            if (moment != '\n') {
                moment(moment - '0');
            }
        }
        moment(-1);
        long until = nowUs() + END_MS * 1000L;
        for (Thread user : users) {
            user.join(Math.max(1, (until - nowUs()) / 1000));
        }
        Runtime.getRuntime().halt(0);
    }

    public static void main(String[] args) throws Exception {
        if (args.length != 8) {
            System.exit(64);
        }
        new Contend(args).run();
    }
}
