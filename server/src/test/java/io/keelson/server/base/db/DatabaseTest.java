package io.keelson.server.base.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.base.db.DatabaseException.Code;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DatabaseTest {

    private Database database;

    @BeforeEach
    void open() {
        database = new Database(TestDatabase.createUrl(),
                DatabaseOptions.DEFAULTS.withPoolSize(4).withLockTimeout(Duration.ofMillis(50)));
        database.runInTransaction(tx -> execute(tx, "create table thing (id int primary key)"));
    }

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void aTransactionThatReturnsIsCommitted() {
        int inserted = database.inTransaction(tx -> tx.createStatement().executeUpdate("insert into thing values (1)"));

        assertThat(inserted).isEqualTo(1);
        assertThat(count()).isEqualTo(1);
    }

    @Test
    void aTransactionThatThrowsLeavesNothingAndGivesItsConnectionBack() {
        for (int i = 0; i < 20; i++) {
            assertThatThrownBy(() -> database.runInTransaction(tx -> {
                execute(tx, "insert into thing values (1)");
                throw new IllegalStateException("no");
            })).isInstanceOf(IllegalStateException.class);
        }
        assertThat(count()).isZero();
    }

    @Test
    void refusedStatementHasItsSqlState() {
        database.runInTransaction(tx -> execute(tx, "insert into thing values (1)"));

        assertThatThrownBy(() -> database.runInTransaction(tx -> execute(tx, "insert into thing values (1)")))
                .isInstanceOfSatisfying(SqlFailure.class, failure -> {
                    assertThat(failure.sqlState()).isEqualTo("23505");
                    assertThat(failure.transientFailure()).isFalse();
                });
    }

    @Test
    void aWaitForALockIsBounded() {
        database.runInTransaction(tx -> {
            execute(tx, "lock table thing in exclusive mode");
            assertThatThrownBy(() -> database.runInTransaction(other -> execute(other, "insert into thing values (2)")))
                    .isInstanceOfSatisfying(SqlFailure.class, failure -> {
                        assertThat(failure.sqlState()).isEqualTo("55P03");
                        assertThat(failure.transientFailure()).isTrue();
                    });
        });
    }

    @Test
    void aCommitterHasPinnedPlansAndBoundedWaits() throws SQLException {
        try (Connection committer = database.committerConnection()) {
            assertThat(committer.getAutoCommit()).isFalse();
            assertThat(show(committer, "plan_cache_mode")).isEqualTo("force_generic_plan");
            assertThat(show(committer, "enable_seqscan")).isEqualTo("off");
            assertThat(show(committer, "enable_hashjoin")).isEqualTo("off");
            assertThat(show(committer, "enable_mergejoin")).isEqualTo("off");
            assertThat(show(committer, "lock_timeout")).isEqualTo("50ms");
        }
        assertThat(show("enable_seqscan")).isEqualTo("on");
    }

    @Test
    void sessionsAreNamedAndBounded() {
        assertThat(show("application_name")).isEqualTo("keelson");
        assertThat(show("statement_timeout")).isEqualTo("30s");
        assertThat(show("idle_in_transaction_session_timeout")).isEqualTo("1min");
    }

    @Test
    void limitsThatTheDatabaseHasForOthersDoNotHoldForSessions() throws SQLException {
        TestDatabase.limit(database.url());
        try (var limited = new Database(database.url(), DatabaseOptions.DEFAULTS);
                Connection committer = limited.committerConnection()) {
            assertThat(show(committer, "idle_session_timeout")).isEqualTo("0");
            assertThat(show(committer, "transaction_timeout")).as("its own").isEqualTo("30s");
            assertThat(show(committer, "idle_in_transaction_session_timeout")).as("its own").isEqualTo("10s");
            for (String setting : List.of("idle_session_timeout", "transaction_timeout")) {
                assertThat(limited.<String>withConnection(pooled -> show(pooled, setting))).isEqualTo("0");
            }
            for (String setting : List.of("transaction_isolation", "default_transaction_isolation")) {
                assertThat(show(committer, setting)).isEqualTo("read committed");
                assertThat(limited.<String>inTransaction(pooled -> show(pooled, setting))).isEqualTo("read committed");
            }
        }
    }

    @Test
    void sqlUsesTheGivenClockOrTheDatabases() {
        Instant noon = Instant.parse("2031-05-06T12:00:00.123456Z");

        assertThat(now(() -> noon)).isEqualTo(noon);
        Instant before = now(DbClock.DATABASE);
        assertThat(now(DbClock.DATABASE)).isAfter(before).isBefore(before.plusSeconds(60));
    }

    @Test
    void aPortWithoutServerIsUnreachable() throws Exception {
        int port;
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        assertThatThrownBy(() -> Database.open("postgresql://me:topsecret@127.0.0.1:" + port + "/x"))
                .isInstanceOfSatisfying(DatabaseException.class, e -> {
                    assertThat(e.code()).isEqualTo(Code.DATABASE_UNREACHABLE);
                    assertThat(e).hasMessageContaining("127.0.0.1:" + port);
                    assertThat(e.toString()).doesNotContain("topsecret");
                });
    }

    @Test
    void aWrongPasswordAndAnUnknownDatabaseAreRefused() {
        DatabaseUrl right = database.url();
        var wrong = new DatabaseUrl(right.hosts(), right.database(), right.user(), "topsecret", right.parameters());

        assertThatThrownBy(() -> new Database(wrong, DatabaseOptions.DEFAULTS))
                .isInstanceOfSatisfying(DatabaseException.class,
                        e -> assertThat(e.code()).isEqualTo(Code.DATABASE_REFUSED))
                .hasMessageContaining(right.hosts())
                .hasMessageNotContaining("topsecret");
        assertThatThrownBy(() -> new Database(right.withDatabase("nowhere"), DatabaseOptions.DEFAULTS))
                .isInstanceOfSatisfying(DatabaseException.class,
                        e -> assertThat(e.code()).isEqualTo(Code.DATABASE_REFUSED));
    }

    @Test
    void aServerBeforeFifteenIsTooOld() {
        DatabaseRequirements.requireNewEnough(database.url(), 15);

        assertThatThrownBy(() -> DatabaseRequirements.requireNewEnough(database.url(), 14))
                .isInstanceOfSatisfying(DatabaseException.class,
                        e -> assertThat(e.code()).isEqualTo(Code.DATABASE_TOO_OLD))
                .hasMessageContaining("PostgreSQL 14");
    }

    @Test
    void aReadOnlyDatabaseIsRefused() {
        TestDatabase.execute("alter database " + database.url().database() + " set default_transaction_read_only = on");
        assertThatThrownBy(() -> new Database(database.url(), DatabaseOptions.DEFAULTS))
                .isInstanceOfSatisfying(DatabaseException.class,
                        e -> assertThat(e.code()).isEqualTo(Code.DATABASE_READ_ONLY))
                .hasMessageContaining("KEELSON_DATABASE_URL");
    }

    @Test
    void aDatabaseWithAnotherEncodingIsRefused() {
        DatabaseUrl latin1 = TestDatabase.createLatin1Url();
        assertThatThrownBy(() -> new Database(latin1, DatabaseOptions.DEFAULTS))
                .isInstanceOfSatisfying(DatabaseException.class,
                        e -> assertThat(e.code()).isEqualTo(Code.DATABASE_NOT_UTF8))
                .hasMessageContaining("LATIN1").hasMessageContaining("encoding 'UTF8'");
    }

    /** A pooler with two sessions of PostgreSQL: a client has the first one unless another client's transaction holds it. */
    @Test
    void aPoolerWithAnotherSessionForEachTransactionIsFound() throws SQLException {
        try (Connection one = database.url().connect(); Connection two = database.url().connect()) {
            assertThat(DatabaseRequirements.sharesSessions(one, two)).isFalse();
            Connection pooled = (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
                    new Class<?>[] {Connection.class},
                    (proxy, method, values) -> method.invoke(one.getAutoCommit() ? one : two, values));
            assertThat(DatabaseRequirements.sharesSessions(pooled, one)).isTrue();
            assertThat(one.getAutoCommit()).isTrue();
        }
    }

    private int count() {
        return database.withConnection(c -> {
            try (var rows = c.createStatement().executeQuery("select count(*) from thing")) {
                rows.next();
                return rows.getInt(1);
            }
        });
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static String show(Connection connection, String setting) throws SQLException {
        try (var rows = connection.createStatement().executeQuery("show " + setting)) {
            rows.next();
            return rows.getString(1);
        }
    }

    private String show(String setting) {
        return database.withConnection(connection -> show(connection, setting));
    }

    private Instant now(DbClock clock) {
        return database.withConnection(connection -> {
            try (var statement = connection.prepareStatement("select " + DbClock.SQL)) {
                clock.bind(statement, 1);
                try (var rows = statement.executeQuery()) {
                    rows.next();
                    return rows.getObject(1, OffsetDateTime.class).toInstant();
                }
            }
        });
    }
}
