package io.keelson.server.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.engine.store.IdempotencyKeys.StoredAnswer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When keys expire, by a fixed clock. */
class IdempotencyKeysTest {

    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private Instant now = NOON;
    private final IdempotencyKeys keys = new IdempotencyKeys(() -> now);

    private static KeyUse use(String key) {
        return new KeyUse(new KeyUse.Id(new UUID(0, 1), "POST /runs", key), "h", new UUID(0, 2));
    }

    private Optional<IdempotencyKeys.Used> find(Database database, String key) {
        return database.inTransaction(c -> keys.find(c, use(key).id()));
    }

    @Test
    void aKeyIsKnownForADayToTheMicrosecond() {
        try (Database database = TestDatabase.create()) {
            database.runInTransaction(c -> keys.answered(c, use("k"), new StoredAnswer(201, "/x", "{}")));

            now = NOON.plus(Duration.ofDays(1)).minusNanos(1_000);
            assertThat(find(database, "k")).isPresent();
            now = NOON.plus(Duration.ofDays(1));
            assertThat(find(database, "k")).isEmpty();
        }
    }

    @Test
    void firstAnswerIsKept() {
        try (Database database = TestDatabase.create()) {
            database.runInTransaction(c -> keys.answered(c, use("k"), new StoredAnswer(201, "/x", "{\"a\": 1}")));
            database.runInTransaction(c -> keys.answered(c, use("k"), new StoredAnswer(200, null, null)));

            assertThat(find(database, "k")).hasValue(
                    new IdempotencyKeys.Used("h", new UUID(0, 2), new StoredAnswer(201, "/x", "{\"a\": 1}")));
        }
    }

    /** A key that nothing but the answer uses is as durable as what was requested. */
    @ParameterizedTest
    @CsvSource({"used, off", "unused, on"})
    void answerToAUsedKeyDoesNotWaitForTheDisk(String key, String synchronousCommit) {
        try (Database database = TestDatabase.create()) {
            database.runInTransaction(c -> assertThat(keys.use(c, use("used"))).isTrue());
            StoredAnswer answer = new StoredAnswer(201, "/x", "{}");
            database.runInTransaction(c -> {
                setting(c, "set local synchronous_commit = on");
                keys.answeredLater(c, use(key), answer);
                assertThat(setting(c, "show synchronous_commit")).isEqualTo(synchronousCommit);
            });

            assertThat(find(database, key)).hasValue(new IdempotencyKeys.Used("h", new UUID(0, 2), answer));
        }
    }

    private static @Nullable String setting(Connection c, String sql) throws SQLException {
        try (Statement statement = c.createStatement()) {
            if (!statement.execute(sql)) {
                return null;
            }
            ResultSet row = statement.getResultSet();
            row.next();
            return row.getString(1);
        }
    }

    @Test
    void expiredKeysGoALimitedNumberAtATime() {
        try (Database database = TestDatabase.create()) {
            for (String key : new String[] {"a", "b", "c"}) {
                database.runInTransaction(c -> keys.answered(c, use(key), new StoredAnswer(200, null, null)));
            }
            now = NOON.plus(Duration.ofHours(1));
            database.runInTransaction(c -> keys.answered(c, use("young"), new StoredAnswer(200, null, null)));
            now = NOON.plus(Duration.ofDays(1));

            assertThat(database.<Integer>inTransaction(c -> keys.purge(c, 2))).isEqualTo(2);
            assertThat(database.<Integer>inTransaction(c -> keys.purge(c, 2))).isEqualTo(1);
            assertThat(database.<Integer>inTransaction(c -> keys.purge(c, 2))).isZero();
            assertThat(find(database, "young")).isPresent();
        }
    }
}
