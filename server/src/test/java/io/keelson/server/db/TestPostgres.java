package io.keelson.server.db;

import io.keelson.server.db.embedded.EmbeddedPostgres;
import io.keelson.server.db.embedded.EmbeddedPostgresOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The one PostgreSQL of a test JVM: started when first asked for, on a throwaway folder, ended and deleted with the
 * JVM. A killed JVM leaves no process, at most the folder below {@code target}.
 */
public final class TestPostgres {

    /** The unpacked programs, shared by all tests and runs of this module. */
    public static final Path BINARIES = Path.of("target", "postgres").toAbsolutePath();

    private static final EmbeddedPostgres SERVER = start();

    private TestPostgres() {}

    public static EmbeddedPostgres server() {
        return SERVER;
    }

    private static EmbeddedPostgres start() {
        try {
            Files.createDirectories(BINARIES);
            Path folder = Files.createTempDirectory(BINARIES, "test-").resolve("data");
            var server = EmbeddedPostgres.start(
                    EmbeddedPostgresOptions.throwaway(folder, BINARIES).with("max_connections", "200"));
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                server.close();
                folder.getParent().toFile().delete();
            }));
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
