package io.keelson.server.base.db;

import io.keelson.server.annex.postgres.EmbeddedPostgres;
import io.keelson.server.annex.postgres.EmbeddedPostgresOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The one PostgreSQL of a test JVM: started when first asked for, ended and deleted with the JVM. The next test JVM deletes
 * the folders of those that were killed. The data is in memory where the machine has {@code /dev/shm} of sufficient size:
 * ext4 needs an eighth of the processor time of the tests to create and delete the files of their databases.
 */
public final class TestPostgres {

    /** The unpacked programs, shared by all tests and runs of this module. */
    public static final Path BINARIES = Path.of("target", "postgres").toAbsolutePath();

    private static final Path MEMORY = Path.of("/dev/shm");
    /** Bytes; the databases of two test classes and the log take less than a quarter. */
    private static final long ENOUGH_MEMORY = 4L << 30;
    private static final String FOLDER = "keelson-test-";

    private static final EmbeddedPostgres SERVER = start();

    private TestPostgres() {}

    public static EmbeddedPostgres server() {
        return SERVER;
    }

    private static EmbeddedPostgres start() {
        try {
            Files.createDirectories(BINARIES);
            Path parent = hasEnoughMemory() ? MEMORY : BINARIES;
            List<Path> leftovers = leftovers(parent);
            Thread.ofPlatform().daemon().name("leftovers").start(() -> leftovers.forEach(TestPostgres::delete));
            Path folder = Files.createTempDirectory(parent, FOLDER + ProcessHandle.current().pid() + "-");
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

    private static boolean hasEnoughMemory() throws IOException {
        return Files.isWritable(MEMORY) && Files.getFileStore(MEMORY).getUsableSpace() > ENOUGH_MEMORY;
    }

    /** The folders {@code keelson-test-PID-NUMBER} of JVMs that have ended. */
    private static List<Path> leftovers(Path parent) throws IOException {
        try (Stream<Path> entries = Files.list(parent)) {
            return entries.filter(entry -> {
                String name = entry.getFileName().toString();
                return name.startsWith(FOLDER) && Files.isWritable(entry)
                        && ProcessHandle.of(Long.parseLong(name.substring(FOLDER.length()).split("-", -1)[0]))
                                .isEmpty();
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
