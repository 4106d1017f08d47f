package io.keelson.server.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.keelson.server.api.http.ApiServer;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.engine.store.queue.WorkerRegistry;
import io.keelson.server.engine.store.queue.WorkerRegistry.NodeKey;
import io.keelson.server.engine.upkeep.NodeHeartbeat;
import io.keelson.server.tenant.secret.SealingKey;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Servers of one database notice that they have different keys for secrets. */
class KeysOfNodesTest {
    private static final Duration SILENCE = Duration.ofSeconds(15);

    @Test
    void nodeWithoutAKeyOfAnotherIsFoundByBoth() throws Exception {
        try (World world = new World()) {
            WorkerRegistry workers = new WorkerRegistry(() -> world.now);
            assertThat(arrive(world, workers, "a", "old")).isEmpty();
            assertThat(arrive(world, workers, "b", "old")).isEmpty();
            assertThat(arrive(world, workers, "c", "new", "old")).as("a and b cannot open what c seals")
                    .containsExactly(new NodeKey("a", "old"), new NodeKey("b", "old"));
            assertThat(arrive(world, workers, "a", "old", "new")).as("a knows both keys, as c does").isEmpty();
            assertThat(arrive(world, workers, "b", "other")).extracting(NodeKey::node).containsExactly("a", "c");
            world.database.runInTransaction(c -> workers.deregister(c, "b"));
            assertThat(arrive(world, workers, "c", "new", "old")).as("b is gone").isEmpty();
            world.now = world.now.plus(SILENCE).plusSeconds(1);
            assertThat(arrive(world, workers, "d", "fresh")).as("all others are silent").isEmpty();
        }
    }

    private static List<NodeKey> arrive(World world, WorkerRegistry workers, String node, String... keys) {
        world.database.runInTransaction(c -> {
            workers.register(c, node, "test", SILENCE);
            workers.announceKeys(c, node, List.of(keys));
        });
        return world.database.withConnection(c -> workers.otherKeys(c, node, SILENCE));
    }

    @Test
    void serverBesideOneWithAnotherKeyLogsAWarning(@TempDir Path one, @TempDir Path two, @TempDir Path three)
            throws Exception {
        Queue<String> logged = new ConcurrentLinkedQueue<>();
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                logged.add(event.getFormattedMessage());
            }
        };
        appender.start();
        Logger logger = (Logger) LoggerFactory.getLogger(NodeHeartbeat.class);
        logger.addAppender(appender);
        Logger starts = (Logger) LoggerFactory.getLogger("io.keelson.server.app.Storage");
        starts.addAppender(appender);
        DatabaseUrl url = TestDatabase.createUrl();
        Map<String, String> patient = Map.of("KEELSON_LEASE_SECONDS", "600");
        try (ApiServer first = new ApiServer(one, url, patient); ApiServer second = new ApiServer(two, url, patient)) {
            assertThat(first.url()).isNotEqualTo(second.url());
            first.put("/api/v1/secrets/crm", "{\"value\": \"a-long-enough-value\"}");
            new ApiServer(three, url, patient).close();
        } finally {
            logger.detachAppender(appender);
            starts.detachAppender(appender);
        }
        String key = key(one);
        String other = key(two);
        assertThat(logged).filteredOn(line -> line.startsWith("SECRET_KEY_MISSING")).singleElement().asString()
                .contains("under the key " + key + ", and this server has " + key(three));
        assertThat(logged).filteredOn(line -> line.contains(key) && line.contains(other)).singleElement().asString()
                .startsWith("SECRET_KEYS_DIFFER: ").contains("under the key " + other, "under " + key);
    }

    private static String key(Path data) throws IOException {
        return Objects.requireNonNull(SealingKey.ofFile(data.resolve("secret-key"))).id();
    }
}
