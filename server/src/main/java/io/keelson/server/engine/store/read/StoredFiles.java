package io.keelson.server.engine.store.read;

import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The files that the artifact store must have, of all workspaces: artifacts of results, uploads of workers that no result has named
 * yet, and exported events.
 */
public final class StoredFiles {

    /** @param sha256 hexadecimal */
    public record File(String storageKey, long sizeBytes, String sha256) {}

    private static final String FILES = """
            (select storage_key, size_bytes, sha256 from artifacts where removed_at is null
             union select storage_key, size_bytes, sha256 from artifact_uploads
             union select storage_key, size_bytes, sha256::text from event_exports) f""";

    private static final Sql PAGE = Sql.of("""
            select storage_key, size_bytes, sha256 from %s
             where :after::text is null or storage_key > :after
             order by storage_key limit :limit""".formatted(FILES));

    private static final Sql COUNT = Sql.of("select count(*) as files from " + FILES);

    private StoredFiles() {}

    public static long count(Connection c) throws SQLException {
        return COUNT.on(c).one(row -> row.getLong("files"));
    }

    /** @param after the last storage key of the page before; null for the first page */
    public static List<File> page(Connection c, @Nullable String after, int limit) throws SQLException {
        return PAGE.on(c).set("after", after).set("limit", limit).all(RecordColumns.of(File.class));
    }
}
