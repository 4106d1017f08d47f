package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.core.Breadth;
import io.keelson.process.KilledNode.Point;
import io.keelson.server.Invariants;
import io.keelson.server.base.db.CountingProxy.Write;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A saga of five effects over HTTP fails, and is undone. With {@code ./check --all}, the server is killed at its commits from the
 * beginning to the end of the undo. Each effect is undone once, the last one first.
 */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class UndoKillsTest {
    private static final int STEPS = 5;
    private static final int PAST = 3;
    private static final Write ANY = new Write("run_heads", "");
    private static final Duration LOOK = Duration.ofMillis(200);

    @Test
    void eachEffectIsUndoneOnce(@TempDir Path folder) throws Exception {
        Assumptions.assumeTrue(Breadth.all());
        DatabaseUrl url = TestDatabase.createUrl();
        try (Effects effects = new Effects();
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2));
                KilledNode node = new KilledNode(folder, url,
                        Map.of("KEELSON_LEASE_SECONDS", "2", "KEELSON_ALLOW_PRIVATE_ADDRESSES", "true"))) {
            node.awaitReady();
            node.client().runs().create(RunRequest.of(saga(effects.url()).toJson()).start());
            int kills = 0;
            while (!undone(database)) {
                node.doom(kills % 2 == 0 ? Point.AFTER_COMMIT : Point.BEFORE_COMMIT, ANY,
                        kills % 2 == 0 ? PAST : PAST + 1);
                boolean dead = node.diesWithin(LOOK);
                while (!dead && !undone(database)) {
                    dead = node.diesWithin(LOOK);
                }
                if (dead) {
                    kills++;
                    node.restart();
                    node.awaitReady();
                }
            }
            System.out.printf("undo: %d kills%n", kills);
            assertThat(kills).isGreaterThanOrEqualTo(3);
            for (int i = 1; i <= STEPS; i++) {
                assertThat(effects.keys("/do/" + i)).as("effect %s", i).hasSize(1);
                assertThat(effects.keys("/undo/" + i)).as("undo of effect %s", i).hasSize(1);
            }
            assertThat(effects.paths()).containsExactlyElementsOf(IntStream.rangeClosed(1, 2 * STEPS)
                    .mapToObj(i -> i <= STEPS ? "/do/" + i : "/undo/" + (2 * STEPS + 1 - i)).toList());
            Invariants.hold(database);
        }
    }

    private static Mission saga(String url) {
        Mission mission = Mission.named("saga").goal("book").config("on_failure", "undo");
        for (int i = 1; i <= STEPS; i++) {
            int number = i;
            mission = mission.task("t" + i, t -> {
                t.step("do", "http.request", Map.of("method", "POST", "url", url + "/do/" + number))
                        .undo("http.request", Map.of("method", "POST", "url", url + "/undo/" + number));
                return number == 1 ? t : t.dependsOn("t" + (number - 1));
            });
        }
        return mission.task("bad", t -> t.step("fail", "fail", Map.of("class", "permanent")).dependsOn("t" + STEPS));
    }

    private static boolean undone(Database database) {
        return database.withConnection(c -> {
            try (Statement statement = c.createStatement();
                    ResultSet row = statement.executeQuery("select count(*) from run_undos where state = 'undone'")) {
                row.next();
                return row.getInt(1) == 1;
            }
        });
    }

    /** A system with effects: it has done each once for each key. */
    private static final class Effects implements AutoCloseable {
        private final HttpServer server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        private final Map<String, Set<String>> done = Collections.synchronizedMap(new LinkedHashMap<>());

        Effects() throws IOException {
            server.createContext("/", exchange -> {
                done.computeIfAbsent(exchange.getRequestURI().getPath(), _ -> new HashSet<>())
                        .add(exchange.getRequestHeaders().getFirst("Idempotency-Key"));
                byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
                exchange.close();
            });
            server.start();
        }

        String url() {
            return "http://127.0.0.1:" + server.getAddress().getPort();
        }

        Set<String> keys(String path) {
            return done.getOrDefault(path, Set.of());
        }

        List<String> paths() {
            return List.copyOf(done.keySet());
        }

        @Override
        public void close() {
            server.stop(0);
        }
    }
}
