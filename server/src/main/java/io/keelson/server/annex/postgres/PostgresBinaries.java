package io.keelson.server.annex.postgres;

import static java.util.Objects.requireNonNull;

import io.keelson.server.base.db.DatabaseException;
import io.keelson.server.base.db.DatabaseException.Code;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.Properties;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tukaani.xz.XZInputStream;

/**
 * PostgreSQL's programs, unpacked once per version from the archive on the class path.
 *
 * @param home the folder with {@code bin}, {@code lib} and {@code share}
 */
record PostgresBinaries(Path home) {

    private static final Logger LOG = LoggerFactory.getLogger(PostgresBinaries.class);
    private static final Object ONE_AT_A_TIME = new Object();
    /** Filtered by the build. */
    private static final String VERSION = "/io/keelson/server/annex/postgres/postgres.properties";

    /**
     * The programs below {@code folder}, unpacked first where absent. Several processes may do this at once: one of
     * them unpacks, beside the final place, and a rename makes the result appear whole.
     *
     * @throws DatabaseException EMBEDDED_POSTGRES_UNSUPPORTED where this build has no archive for this machine,
     *                           DATA_DIR_FULL or DATA_DIR_NOT_WRITABLE where the folder cannot be written
     */
    static PostgresBinaries in(Path folder) {
        Path home = home(folder);
        if (!Files.isDirectory(home)) {
            synchronized (ONE_AT_A_TIME) {
                try {
                    Files.createDirectories(folder);
                    unpackUnderLock(folder, home);
                } catch (IOException e) {
                    throw DataDirectory.notWritable(home, e);
                }
            }
        }
        return new PostgresBinaries(home.toAbsolutePath());
    }

    /** Whether the programs are below the folder already. */
    static boolean areIn(Path folder) {
        return Files.isDirectory(home(folder));
    }

    private static Path home(Path folder) {
        return folder.resolve("postgres-" + version() + "-bin");
    }

    Path initdb() {
        return home.resolve("bin/initdb");
    }

    Path pgCtl() {
        return home.resolve("bin/pg_ctl");
    }

    Path postgres() {
        return home.resolve("bin/postgres");
    }

    /** For example {@code 18.6.0}. */
    static String version() {
        try (InputStream in = PostgresBinaries.class.getResourceAsStream(VERSION)) {
            var properties = new Properties();
            properties.load(requireNonNull(in));
            return requireNonNull(properties.getProperty("version"));
        } catch (IOException e) {
            throw new IllegalStateException("postgres.properties is unreadable", e);
        }
    }

    private static void unpackUnderLock(Path folder, Path home) throws IOException {
        Path lock = folder.resolve("postgres-bin.lock");
        try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                var held = channel.lock()) {
            if (Files.isDirectory(home)) {
                return;
            }
            Path unfinished = home.resolveSibling(home.getFileName() + ".new");
            FilePermissions.deleteTree(unfinished);
            Files.createDirectory(unfinished);
            try (InputStream archive = archive()) {
                LOG.info("Unpack PostgreSQL {} into {}: only at the first start, for some seconds", version(), home);
                TarArchive.unpack(new XZInputStream(archive), unfinished);
            }
            syncToDisk(unfinished);
            Files.move(unfinished, home, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /** Without this a power cut after the rename could leave empty programs behind for good. */
    private static void syncToDisk(Path folder) throws IOException {
        try {
            FilePermissions.tree(folder).parallelStream().filter(path -> Files.isRegularFile(path)).forEach(file -> {
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
                    channel.force(true);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static InputStream archive() {
        String platform = platform();
        InputStream archive = PostgresBinaries.class.getResourceAsStream("/postgres-" + platform + ".txz");
        if (archive == null) {
            throw new DatabaseException(Code.EMBEDDED_POSTGRES_UNSUPPORTED, "This build of Keelson brings no PostgreSQL"
                    + " for " + platform + ". Set KEELSON_DATABASE_URL to a PostgreSQL 15 or newer.");
        }
        return archive;
    }

    private static String platform() {
        String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        return (os.startsWith("mac") ? "darwin" : os.replace(' ', '_')) + "-" + switch (arch) {
            case "amd64", "x86_64" -> "x86_64";
            case "aarch64", "arm64" -> "arm_64";
            default -> arch;
        };
    }
}
