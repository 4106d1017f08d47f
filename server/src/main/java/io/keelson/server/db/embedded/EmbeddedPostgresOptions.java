package io.keelson.server.db.embedded;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How to run an embedded PostgreSQL.
 *
 * @param dataDirectory the server's data directory; made with mode 0700 where absent
 * @param binaries      the folder that holds the unpacked programs, a folder per version; may be shared by processes
 * @param parameters    PostgreSQL settings that replace or add to {@link #defaults()}
 * @param throwaway     for tests: closing stops PostgreSQL without a checkpoint and deletes the data directory
 */
public record EmbeddedPostgresOptions(Path dataDirectory, Path binaries, Map<String, String> parameters,
        boolean throwaway) {

    public EmbeddedPostgresOptions {
        parameters = Map.copyOf(parameters);
    }

    /** Lasting data: everything durable, the programs inside the data directory. */
    public static EmbeddedPostgresOptions lasting(Path dataDirectory) {
        return new EmbeddedPostgresOptions(dataDirectory, dataDirectory, Map.of(), false);
    }

    /** Disposable data: no syncing, and closing deletes {@code dataDirectory}. */
    public static EmbeddedPostgresOptions throwaway(Path dataDirectory, Path binaries) {
        var fast = Map.of("fsync", "off", "full_page_writes", "off", "synchronous_commit", "off");
        return new EmbeddedPostgresOptions(dataDirectory, binaries, fast, true);
    }

    /** The same with one more setting. */
    public EmbeddedPostgresOptions with(String parameter, String value) {
        var more = new LinkedHashMap<>(parameters);
        more.put(parameter, value);
        return new EmbeddedPostgresOptions(dataDirectory, binaries, more, throwaway);
    }

    /** Every setting, {@link #parameters} over {@link #defaults()}. */
    Map<String, String> settings() {
        var all = new LinkedHashMap<>(defaults());
        all.putAll(parameters);
        return all;
    }

    /** Whether the data must survive a power cut. */
    boolean durable() {
        return !"off".equals(settings().get("fsync"));
    }

    private static Map<String, String> defaults() {
        return Map.ofEntries(
                Map.entry("listen_addresses", "127.0.0.1"),
                Map.entry("unix_socket_directories", ""),
                Map.entry("max_connections", "60"),
                Map.entry("fsync", "on"),
                Map.entry("synchronous_commit", "on"),
                Map.entry("shared_buffers", "128MB"),
                Map.entry("wal_compression", "on"),
                Map.entry("max_wal_size", "2GB"),
                Map.entry("min_wal_size", "256MB"),
                Map.entry("checkpoint_timeout", "15min"),
                Map.entry("jit", "off"),
                Map.entry("timezone", "UTC"),
                Map.entry("log_timezone", "UTC"),
                Map.entry("log_checkpoints", "off"),
                Map.entry("logging_collector", "on"),
                Map.entry("log_directory", "../" + PostgresLog.FOLDER),
                Map.entry("log_filename", "postgres-%a.log"),
                Map.entry("log_rotation_age", "1d"),
                Map.entry("log_rotation_size", "0"),
                Map.entry("log_truncate_on_rotation", "on"));
    }
}
