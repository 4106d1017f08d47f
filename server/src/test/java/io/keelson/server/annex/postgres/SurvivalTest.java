package io.keelson.server.annex.postgres;

import static io.keelson.server.annex.postgres.EmbeddedPostgresTest.execute;
import static io.keelson.server.annex.postgres.EmbeddedPostgresTest.postmaster;
import static io.keelson.server.annex.postgres.EmbeddedPostgresTest.single;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.keelson.core.Breadth;
import io.keelson.server.base.db.DatabaseException;
import io.keelson.server.base.db.DatabaseException.Code;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** PostgreSQL after its JVM was killed, seen from other processes. */
class SurvivalTest {

    @TempDir
    private Path folder;

    @Test
    void aKilledJvmLeavesNoPostgresAndTheNextStartWorks() throws Exception {
        ProcessHandle postmaster;
        try (var holder = Holder.start(data(), TestPostgres.BINARIES)) {
            execute(urlOf(holder), "create table kept as select 42 as id");
            postmaster = postmaster(data());
            holder.process().destroyForcibly();
        }
        await().until(() -> !postmaster.isAlive());
        try (var next = EmbeddedPostgres.start(options())) {
            assertThat(single(next.url(), "select id from kept")).isEqualTo("42");
        }
    }

    @Test
    @Breadth.InPart(0)
    void aPostgresThatEndsByItselfIsReportedWithWhatToDo() throws Exception {
        var log = new ListAppender<ILoggingEvent>();
        log.list = new CopyOnWriteArrayList<>();
        var logger = (Logger) LoggerFactory.getLogger(EmbeddedPostgres.class);
        logger.addAppender(log);
        log.start();
        try (var postgres = EmbeddedPostgres.start(options())) {
            postmaster(data()).destroyForcibly();
            await().until(() -> !postgres.isAlive() && !reports(log).isEmpty());
        } finally {
            logger.detachAppender(log);
        }
        assertThat(reports(log)).singleElement().asString().contains("has ended", "may say why");
    }

    /** What is said of this test's server; others may end in the same JVM. */
    private List<String> reports(ListAppender<ILoggingEvent> log) {
        return log.list.stream().map(ILoggingEvent::getFormattedMessage)
                .filter(message -> message.contains(data().toString())).toList();
    }

    @Test
    @Breadth.InPart(1)
    void aPostgresThatOutlivedItsSupervisorTooIsStoppedByTheNextStart() throws Exception {
        ProcessHandle leftover;
        try (var holder = Holder.start(data(), TestPostgres.BINARIES)) {
            execute(urlOf(holder), "create table kept as select 42 as id");
            leftover = postmaster(data());
            holder.killWithItsShells();
            holder.process().onExit().join();
        }
        assertThat(leftover.isAlive()).isTrue();
        try (var next = EmbeddedPostgres.start(options())) {
            await().until(() -> !leftover.isAlive());
            assertThat(single(next.url(), "select id from kept")).isEqualTo("42");
        }
    }

    @Test
    @Breadth.InPart(2)
    void directoryHeldByAnotherProcessIsNamedInTheRefusal() throws Exception {
        try (var holder = Holder.start(data(), TestPostgres.BINARIES)) {
            DatabaseUrl url = urlOf(holder);

            assertThatThrownBy(() -> EmbeddedPostgres.start(options()))
                    .isInstanceOfSatisfying(DatabaseException.class,
                            e -> assertThat(e.code()).isEqualTo(Code.DATA_DIR_IN_USE))
                    .hasMessageContaining("process " + holder.process().pid());
            assertThat(single(url, "select 1")).isEqualTo("1");
        }
    }

    @Test
    @Breadth.InPart(3)
    void aDirectoryHeldByThisProcessIsRefusedAndStaysHeld() throws Exception {
        try (var postgres = EmbeddedPostgres.start(options())) {
            assertThatThrownBy(() -> EmbeddedPostgres.start(options()))
                    .isInstanceOfSatisfying(DatabaseException.class,
                            e -> assertThat(e.code()).isEqualTo(Code.DATA_DIR_IN_USE));
            try (var other = Holder.start(data(), TestPostgres.BINARIES)) {
                assertThat(other.firstLine()).startsWith("DATA_DIR_IN_USE")
                        .contains("process " + ProcessHandle.current().pid());
            }
            assertThat(single(postgres.url(), "select 1")).isEqualTo("1");
        }
    }

    @Test
    @Breadth.InPart(5)
    void twoProcessesMayUnpackTheProgramsAtOnce() throws Exception {
        Path binaries = folder.resolve("binaries");
        try (var one = Holder.start(folder.resolve("one"), binaries);
                var two = Holder.start(folder.resolve("two"), binaries)) {
            assertThat(one.firstLine()).startsWith("UP");
            assertThat(two.firstLine()).startsWith("UP");
        }
        try (Stream<Path> left = Files.list(binaries)) {
            assertThat(left.map(path -> path.getFileName().toString())).containsExactlyInAnyOrder("postgres-bin.lock",
                    "postgres-" + PostgresBinaries.version() + "-bin");
        }
        await().until(() -> !Files.exists(PostmasterFile.of(folder.resolve("one/postgres")))
                && !Files.exists(PostmasterFile.of(folder.resolve("two/postgres"))));
    }

    private DatabaseUrl urlOf(Holder holder) throws Exception {
        String[] line = holder.firstLine().split(" ");
        assertThat(line[0]).isEqualTo("UP");
        return new DatabaseUrl(line[1], "keelson", "keelson",
                DatabasePassword.readOrCreate(data().resolve("postgres.secret")),
                "");
    }

    private Path data() {
        return folder.resolve("data");
    }

    private EmbeddedPostgresOptions options() {
        return new EmbeddedPostgresOptions(data(), TestPostgres.BINARIES, Map.of("fsync", "off"), false);
    }
}
