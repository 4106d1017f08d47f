package io.keelson.server.base.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.Breadth;
import io.keelson.server.base.db.DatabaseException.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Breadth.Spread
@Timeout(60)
class MigrationsTest {

    @TempDir
    private Path files;

    private final DatabaseUrl url = TestDatabase.createEmptyUrl();

    /** Again and again, as they meet at different places. */
    @RepeatedTest(5)
    void twoServersThatStartAtOnceApplyEachFileOnce() throws Exception {
        write("V1__a.sql", "create table a (id int); insert into a values (1);");
        write("V2__b.sql", "insert into a values (2); select pg_sleep(0.2);");
        var barrier = new CyclicBarrier(2);
        Callable<Integer> server = () -> {
            barrier.await();
            return migrate();
        };
        try (var servers = Executors.newFixedThreadPool(2)) {
            var first = servers.submit(server);
            var second = servers.submit(server);

            assertThat(first.get() + second.get()).isEqualTo(2);
        }
        assertThat(count("a")).isEqualTo(2);
    }

    @Test
    void aSecondRunAppliesOnlyWhatIsNew() throws Exception {
        write("V1__a.sql", "create table a (id int);");
        assertThat(migrate()).isEqualTo(1);
        assertThat(migrate()).isZero();
        write("V2__b.sql", "create index concurrently i on a (id);");
        assertThat(migrate()).isEqualTo(1);
    }

    @Test
    void aSchemaOfANewerBuildIsRefusedUntouched() throws Exception {
        write("V1__a.sql", "create table a (id int);");
        write("V2__b.sql", "create table b (id int);");
        migrate();
        Files.delete(files.resolve("V2__b.sql"));

        assertThatThrownBy(this::migrate)
                .isInstanceOfSatisfying(DatabaseException.class,
                        e -> assertThat(e.code()).isEqualTo(Code.DATABASE_SCHEMA_NEWER))
                .hasMessageContaining("version 2");
    }

    /** Until the first release files are edited in place. */
    @Test
    void aSchemaThatOtherFilesMadeIsRefusedUntouched() throws Exception {
        write("V1__a.sql", "create table a (id int);");
        write("V2__b.sql", "create table b (id int);");
        migrate();
        write("V1__a.sql", "create table a (id bigint);");
        write("V3__c.sql", "create table c (id int);");
        assertUnreleased("version 1");

        write("V1__a.sql", "create table a (id int);");
        Files.delete(files.resolve("V2__b.sql"));
        assertUnreleased("version 2");

        write("V2__b.sql", "create table b (id int);");
        assertThat(migrate()).isEqualTo(1);
    }

    /** A longer history of other files is not mistaken for a newer build's. */
    @Test
    void aSchemaOfMoreAndOtherFilesIsRefusedAsUnreleased() throws Exception {
        write("V1__a.sql", "create table a (id int);");
        write("V78__b.sql", "create table b (id int);");
        migrate();
        Files.delete(files.resolve("V1__a.sql"));
        Files.delete(files.resolve("V78__b.sql"));
        write("V1__first.sql", "create table a (id bigint);");
        assertUnreleased("version 1");
    }

    private void assertUnreleased(String version) {
        for (ThrowingCallable each : List.<ThrowingCallable>of(this::migrate, this::pending)) {
            assertThatThrownBy(each)
                    .isInstanceOfSatisfying(DatabaseException.class,
                            e -> assertThat(e.code()).isEqualTo(Code.DATABASE_SCHEMA_UNRELEASED))
                    .hasMessageContainingAll("unreleased build", version, "new data directory", "new database");
        }
    }

    @Test
    void aFileThatFailsLeavesTheVersionBefore() throws Exception {
        write("V1__a.sql", "create table a (id int); insert into a values (1);");
        write("V2__b.sql", "insert into a values (2); select nonsense;");

        assertThatThrownBy(this::migrate)
                .isInstanceOfSatisfying(DatabaseException.class,
                        e -> assertThat(e.code()).isEqualTo(Code.DATABASE_MIGRATION_FAILED));
        assertThat(count("a")).isEqualTo(1);
    }

    @Test
    void aFileThatFailedHalfWayIsBegunAgain() throws Exception {
        write("V1__a.sql", "create table if not exists a (id int);");
        write("V2__b.sql", "insert into a values (2); select nonsense;");
        write("V2__b.sql.conf", "executeInTransaction=false");
        assertThatThrownBy(this::migrate).isInstanceOfSatisfying(DatabaseException.class,
                e -> assertThat(e.code()).isEqualTo(Code.DATABASE_MIGRATION_FAILED));
        assertThat(count("a")).isEqualTo(1);
        assertThat(pending()).isEqualTo(1);
        assertThatThrownBy(this::migrate).hasMessageContaining("nonsense");
        assertThat(count("a")).isEqualTo(2);

        write("V2__b.sql", "insert into a values (2);");
        assertThat(migrate()).isEqualTo(1);
        assertThat(count("a")).isEqualTo(3);
        assertThat(pending()).isZero();
        assertThat(migrate()).isZero();
    }

    @Test
    void limitsThatTheDatabaseHasForOthersDoNotHoldForMigrations() throws Exception {
        TestDatabase.limit(url);
        write("V1__a.sql", "create table a as " + TestDatabase.LIMITS);
        write("V2__b.sql", "insert into a " + TestDatabase.LIMITS);
        write("V2__b.sql.conf", "executeInTransaction=false");
        assertThat(migrate()).isEqualTo(2);
        assertThat(count("a where setting = '0'")).as("four settings of time in each file").isEqualTo(8);
        assertThat(count("a where setting = '500'")).as("lock_timeout in each file").isEqualTo(2);
        assertThat(count("a where setting = 'read committed'")).isEqualTo(2);
        assertThat(count("a")).isEqualTo(12);
        assertThat(count("(" + TestDatabase.LIMITS + ") mine where setting = '0'")).isEqualTo(5);
    }

    @Test
    void aUserThatMayNotCreateTablesIsToldTheGrant() throws Exception {
        write("V1__a.sql", "create table a (id int);");
        DatabaseUrl guest = TestDatabase.asPlainOwner(url);
        for (ThrowingCallable each : List.<ThrowingCallable>of(() -> Migrations.migrate(guest, "filesystem:" + files),
                () -> Migrations.pending(guest, "filesystem:" + files))) {
            assertThatThrownBy(each)
                    .isInstanceOfSatisfying(DatabaseException.class,
                            e -> assertThat(e.code()).isEqualTo(Code.DATABASE_REFUSED))
                    .hasMessageContaining("grant usage, create on schema public to " + TestDatabase.PLAIN_OWNER);
        }
        try (var connection = url.connect(); var statement = connection.createStatement()) {
            statement.execute("grant usage, create on schema public to " + TestDatabase.PLAIN_OWNER);
        }
        assertThat(Migrations.migrate(guest, "filesystem:" + files)).isEqualTo(1);
        assertThat(Migrations.pending(guest, "filesystem:" + files)).isZero();
    }

    private int migrate() {
        return Migrations.migrate(url, "filesystem:" + files);
    }

    private int pending() {
        return Migrations.pending(url, "filesystem:" + files);
    }

    private void write(String name, String sql) throws IOException {
        Files.writeString(files.resolve(name), sql);
    }

    private int count(String table) throws SQLException {
        try (var connection = url.connect();
                var rows = connection.createStatement().executeQuery("select count(*) from " + table)) {
            rows.next();
            return rows.getInt(1);
        }
    }
}
