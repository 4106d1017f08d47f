package io.keelson.process;

import io.keelson.core.Breadth;
import io.keelson.server.FaultyLink;
import io.keelson.server.Lapse;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server on a host of its own loses the packets to the database, from it, or both, for longer than its leases. Another one continues. */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class NamespaceFaultsTest {

    private static final int TRIES = Integer.getInteger("keelson.faults", Breadth.of(1, 5));
    private static final Duration CUT = Duration.ofSeconds(10);
    private static final Duration PAUSE = Duration.ofSeconds(15);

    @TempDir
    private Path folder;

    @Test
    void aServerIsCutOffFromTheDatabase() throws Exception {
        Assumptions.assumeTrue(Breadth.all(), "with ./check --all");
        Assumptions.assumeTrue(NetworkNamespace.available(),
                "LEFT OUT: network namespaces need root, iproute2 and nftables");
        DatabaseUrl url = TestDatabase.createUrl();
        try (NetworkNamespace host = new NetworkNamespace(); FaultTrials trials = new FaultTrials();
                FaultyLink there = new FaultyLink(InetAddress.getByName(host.here()),
                        () -> URI.create("tcp://" + url.hosts()));
                FaultyLink bank = new FaultyLink(InetAddress.getByName(host.here()), trials.bank()::url);
                ServerProcess cut = ServerProcess.start(folder.resolve("cut"), trials.settings(Map.of(
                        "KEELSON_DATABASE_URL", TestDatabase.text(NetworkFaultsTest.at(url, there.authority())),
                        "KEELSON_HTTP_HOST", host.there(), "KEELSON_COMMAND_TYPES", Bank.types(bank.url()))),
                        host.prefix());
                Server other = server(trials, url);
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2))) {
            trials.load("cut-", cut::url, Files.readString(folder.resolve("cut/api-key")).strip());
            trials.load("other-", other::baseUrl, other.apiKey());
            int port = there.url().getPort();
            for (int i = 0; i < TRIES; i++) {
                trials.run("packets: none in either direction, over a lease", () -> cut(host, port, true, true));
                trials.run("packets: none to the database, over a lease", () -> cut(host, port, true, false));
                trials.run("packets: none from the database, over a lease", () -> cut(host, port, false, true));
            }
            trials.end(database, PAUSE);
        }
    }

    private static long cut(NetworkNamespace host, int port, boolean requests, boolean answers) throws Exception {
        host.cut(port, requests, answers);
        Lapse.of(CUT);
        host.heal();
        return System.nanoTime();
    }

    private Server server(FaultTrials trials, DatabaseUrl url) throws Exception {
        Path data = folder.resolve("other");
        Map<String, String> all =
                new HashMap<>(trials.settings(Map.of("KEELSON_DATABASE_URL", TestDatabase.text(url))));
        all.putAll(Map.of("KEELSON_DATA_DIR", data.toString(), "KEELSON_HTTP_PORT", "0"));
        return Server.start(Settings.load(all, data, data));
    }
}
