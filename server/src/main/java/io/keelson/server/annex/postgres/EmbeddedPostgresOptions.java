package io.keelson.server.annex.postgres;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How to run an embedded PostgreSQL.
 *
 * @param dataDirectory the server's data directory; made with mode 0700 where absent
 * @param binaries      the folder that holds the unpacked programs, a folder per version; may be shared by processes
 * @param parameters    PostgreSQL settings that replace or add to {@link #defaults}
 * @param throwaway     for tests: closing stops PostgreSQL without a checkpoint and deletes the data directory
 */
public record EmbeddedPostgresOptions(Path dataDirectory, Path binaries, Map<String, String> parameters,
        boolean throwaway) {

    private static final long MIN_LOG_MB = 128;
    private static final long MAX_LOG_MB = 2_048;

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

    /** A copy with one more setting. */
    public EmbeddedPostgresOptions with(String parameter, String value) {
        var more = new LinkedHashMap<>(parameters);
        more.put(parameter, value);
        return new EmbeddedPostgresOptions(dataDirectory, binaries, more, throwaway);
    }

    /**
     * Every setting, {@link #parameters} over {@link #defaults}.
     *
     * @param diskBytes size of the disk, of which the log before a checkpoint takes an eighth
     */
    Map<String, String> settings(long diskBytes) {
        var all = new LinkedHashMap<>(defaults(Math.clamp((diskBytes >> 20) / 8, MIN_LOG_MB, MAX_LOG_MB)));
        all.putAll(parameters);
        return all;
    }

    /** Whether the data must survive a power cut. */
    boolean durable() {
        return !"off".equals(parameters.get("fsync"));
    }

    private static Map<String, String> defaults(long logMegabytes) {
        return Map.ofEntries(
                Map.entry("listen_addresses", "127.0.0.1"),
                Map.entry("unix_socket_directories", ""),
                Map.entry("max_connections", "60"),
                Map.entry("fsync", "on"),
                Map.entry("synchronous_commit", "on"),
                Map.entry("shared_buffers", "128MB"),
                Map.entry("wal_compression", "on"),
                Map.entry("max_wal_size", logMegabytes + "MB"),
                Map.entry("min_wal_size", Math.min(logMegabytes, 256) + "MB"),
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
