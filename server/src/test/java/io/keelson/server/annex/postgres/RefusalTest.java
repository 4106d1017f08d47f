package io.keelson.server.annex.postgres;

import static io.keelson.server.annex.postgres.EmbeddedPostgresTest.single;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.Breadth;
import io.keelson.server.base.db.DatabaseException;
import io.keelson.server.base.db.DatabaseException.Code;
import io.keelson.server.base.db.TestPostgres;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Strangers on the port, strange data, and machines that cannot run it. */
class RefusalTest {

    @TempDir
    private Path folder;

    @Test
    void aStrangersPostgresOnThePortIsNotUsed() throws Exception {
        int strangers = Integer.parseInt(TestPostgres.server().url().hosts().split(":")[1]);
        AtomicBoolean tried = new AtomicBoolean();
        IntSupplier ports = () -> tried.getAndSet(true) ? EmbeddedPostgres.freePort() : strangers;

        try (var postgres = start(ports)) {
            assertThat(postgres.url().hosts()).doesNotEndWith(":" + strangers);
            assertThat(single(postgres.url(), "show data_directory"))
                    .isEqualTo(folder.toRealPath().resolve("data/postgres").toString());
        }
    }

    @Test
    void noConnectionIsMadeToATakenPortAndTooManyAreAnError() throws Exception {
        try (var stranger = ServerSocketChannel.open()) {
            stranger.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            int port = ((InetSocketAddress) stranger.getLocalAddress()).getPort();

            assertThat(codeOf(() -> start(() -> port))).isEqualTo(Code.PORT_UNAVAILABLE);
            stranger.configureBlocking(false);
            assertThat(stranger.accept()).isNull();
        }
    }

    @Test
    @Breadth.InPart(6)
    void aForeignProcessWithTheLastPostmastersIdIsLeftAloneAndDoesNotHinder() throws Exception {
        EmbeddedPostgres.start(options()).close();
        Process foreign = new ProcessBuilder("cat").start();
        Path file = PostmasterFile.of(folder.resolve("data/postgres"));
        Files.writeString(file, foreign.pid() + "\n" + file.getParent() + "\n1790000000\n5432\n\n127.0.0.1\n\nready\n");
        try (var postgres = EmbeddedPostgres.start(options())) {
            assertThat(postgres.isAlive()).isTrue();
            assertThat(foreign.isAlive()).isTrue();
        } finally {
            foreign.destroyForcibly();
        }
    }

    @Test
    @Breadth.InPart(1)
    void aBrokenClusterIsReportedWithTheEndOfItsLog() throws Exception {
        EmbeddedPostgres.start(options()).close();
        Files.delete(folder.resolve("data/postgres/global/pg_control"));

        assertThatThrownBy(() -> EmbeddedPostgres.start(options()))
                .isInstanceOfSatisfying(DatabaseException.class,
                        e -> assertThat(e.code()).isEqualTo(Code.EMBEDDED_POSTGRES_FAILED))
                .hasMessageContaining("pg_control");
    }

    @Test
    void aClusterOfAnotherMajorVersionIsRefused() throws Exception {
        Path cluster = Files.createDirectories(folder.resolve("data/postgres"));
        Files.writeString(cluster.resolve("PG_VERSION"), "1\n");
        Files.writeString(folder.resolve("data/postgres.secret"), "x");

        assertThat(codeOf(() -> EmbeddedPostgres.start(options()))).isEqualTo(Code.DATA_DIR_OTHER_VERSION);
    }

    @Test
    void aClusterWithoutItsSecretIsRefused() throws Exception {
        Files.createDirectories(folder.resolve("data/postgres"));

        assertThatThrownBy(() -> EmbeddedPostgres.start(options())).hasMessageContaining("postgres.secret is missing");
    }

    @Test
    @Breadth.InPart(2)
    void aDirectoryThatCannotBeMadeIsRefusedAndARefusalHoldsNothing() throws Exception {
        Path file = Files.createFile(folder.resolve("data"));
        assertThat(codeOf(() -> EmbeddedPostgres.start(options()))).isEqualTo(Code.DATA_DIR_NOT_WRITABLE);
        Files.delete(file);
        assertThat(codeOf(() -> EmbeddedPostgres.start(options().with("max_connections", "none"))))
                .isEqualTo(Code.EMBEDDED_POSTGRES_FAILED);

        EmbeddedPostgres.start(options()).close();
    }

    private static Code codeOf(Runnable start) {
        try {
            start.run();
        } catch (DatabaseException e) {
            return e.code();
        }
        throw new AssertionError("started");
    }

    private EmbeddedPostgresOptions options() {
        return new EmbeddedPostgresOptions(folder.resolve("data"), TestPostgres.BINARIES,
                Map.of("fsync", "off"), false);
    }

    private EmbeddedPostgres start(IntSupplier ports) {
        return EmbeddedPostgres.start(options(), ports, Privileges.ways());
    }

    @Test
    void userMissingInThePasswordFileGetsInstructions() {
        assertThat(Cluster.reason("initdb: could not look up effective user ID 12345: user does not exist\n"))
                .contains("/etc/passwd", "KEELSON_DATABASE_URL").doesNotContain("initdb");
        assertThat(Cluster.reason("no space")).isEqualTo("Its last words:\nno space");
    }
}
