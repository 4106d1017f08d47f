package io.keelson.server.engine.store.read;

import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The files that the artifact store must have, of all workspaces: artifacts of results, uploads of workers that no result has named
 * yet, exported events, archived runs and their files.
 */
public final class StoredFiles {

    /** @param sha256 hexadecimal */
    public record File(String storageKey, long sizeBytes, String sha256) {}

    /** The row of an upload that a result has named stays for a day, longer than the content of a deleted artifact. */
    private static final List<String> TABLES = List.of("""
            select storage_key, size_bytes, sha256::text from artifacts where removed_at is null""", """
            select storage_key, size_bytes, sha256::text from artifact_uploads u
             where not exists (select from artifacts a where a.storage_key = u.storage_key)""", """
            select storage_key, size_bytes, sha256::text from event_exports where true""", """
            select storage_key, size_bytes, sha256::text from archive_objects where true""", """
            select storage_key, size_bytes, sha256::text from archived_files where true""");

    /** Each table is read by the index of its keys, so a page costs the same anywhere. */
    private static final Sql PAGE = Sql.of(TABLES.stream()
            .map(table -> "(" + table + " and storage_key > :after order by storage_key limit :limit)")
            .collect(Collectors.joining(" union all ")) + " order by storage_key limit :limit");

    private static final Sql COUNT = Sql.of("select count(*) as files from ("
            + String.join(" union all ", TABLES) + ") f");

    private StoredFiles() {}

    public static long count(Connection c) throws SQLException {
        return COUNT.on(c).one(row -> row.getLong("files"));
    }

    /** @param after the last storage key of the page before; null for the first page */
    public static List<File> page(Connection c, @Nullable String after, int limit) throws SQLException {
        return PAGE.on(c).set("after", after == null ? "" : after).set("limit", limit)
                .all(RecordColumns.of(File.class));
    }
}
