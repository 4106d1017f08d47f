package io.keelson.server.db;

import io.keelson.server.db.embedded.EmbeddedPostgres;
import io.keelson.server.db.embedded.EmbeddedPostgresOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The one PostgreSQL of a test JVM: started when first asked for, ended and deleted with the JVM. The next test JVM deletes
 * the folders of those that were killed.
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
            List<Path> leftovers = leftovers();
            Thread.ofPlatform().daemon().name("leftovers").start(() -> leftovers.forEach(TestPostgres::delete));
            Path folder = Files.createTempDirectory(BINARIES, "test-" + ProcessHandle.current().pid() + "-");
            Path data = folder.resolve("data");
            // With dozens of databases autovacuum would start a worker each second.
            var parameters = EmbeddedPostgresOptions.throwaway(data, BINARIES).with("max_connections", "200")
                    .with("autovacuum", "off").parameters();
            var server = EmbeddedPostgres.start(new EmbeddedPostgresOptions(data, BINARIES, parameters, true));
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                server.close();
                delete(folder);
            }));
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The folders {@code test-PID-NUMBER} of JVMs that have ended. */
    private static List<Path> leftovers() throws IOException {
        try (Stream<Path> entries = Files.list(BINARIES)) {
            return entries.filter(entry -> {
                String[] name = entry.getFileName().toString().split("-", -1);
                return name.length == 3 && name[0].equals("test")
                        && ProcessHandle.of(Long.parseLong(name[1])).isEmpty();
            }).toList();
        }
    }

    private static void delete(Path folder) {
        try (Stream<Path> paths = Files.walk(folder)) {
            paths.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
        } catch (IOException | UncheckedIOException e) {
            throw new IllegalStateException("cannot delete " + folder, e);
        }
    }
}
