// Connect.java - what a URL of Driver.java or Contend.java means to Redisson.

import org.redisson.config.Config;
import org.redisson.config.SentinelServersConfig;

final class Connect {
    private static final String SENTINELS = "redis+sentinel://";

    private Connect() {
    }

    // redis://HOST:PORT, or redis+sentinel://HOST:PORT,HOST:PORT,HOST:PORT/SERVICE
    static void to(Config config, String url) {
        if (!url.startsWith(SENTINELS)) {
            config.useSingleServer().setAddress(url);
            return;
        }
        String[] parts = url.substring(SENTINELS.length()).split("/");
        SentinelServersConfig servers = config.useSentinelServers().setMasterName(parts[1]);
        for (String address : parts[0].split(",")) {
            servers.addSentinelAddress("redis://" + address);
        }
    }
}
