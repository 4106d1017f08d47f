package io.keelson.server.outlet.backup;

import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.MigrationFile;
import io.keelson.server.base.db.Migrations;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Sql;
import io.keelson.server.outlet.backup.BackupException.Code;
import io.keelson.server.tenant.money.LedgerReader;
import io.keelson.server.tenant.secret.SecretStore;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.Writer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyOut;

/** Writes a backup of a database, and of the files of its runs, while servers work on both. */
public final class BackupWriter {

    private static final Sql COLUMNS = Sql.of("""
            select a.attname as name
              from pg_attribute a
             where a.attrelid = to_regclass(:table) and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
             order by a.attnum""");

    private static final Sql SEQUENCES = Sql.of("""
            select s.relname as name
              from pg_class s
              join pg_depend d on d.objid = s.oid and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i')
              join unnest(:tables::text[]) t (name) on to_regclass(t.name) = d.refobjid
             where s.relkind = 'S'
             order by s.relname""");

    private static final Sql NOW = Sql.of("""
            select now() as now, current_setting('server_version') as version,
                coalesce(sum(pg_total_relation_size(to_regclass(name))), 0)::bigint as bytes
              from unnest(:tables::text[]) t (name)""");

    private final DatabaseUrl url;
    private final @Nullable RunFiles artifacts;
    private final BackupFolder folder;
    private final String keelson;
    private final BackupProgress progress;

    /**
     * @param artifacts the files of runs; null for a backup without the files of runs
     * @param keelson version of this program
     */
    public BackupWriter(DatabaseUrl url, @Nullable RunFiles artifacts, BackupFolder folder, String keelson,
            BackupProgress progress) {
        this.url = url;
        this.artifacts = artifacts;
        this.folder = folder;
        this.keelson = keelson;
        this.progress = progress;
    }

    private record Place(Instant now, String version, long bytes) {}

    /**
     * Writes the backup. After an interruption the next call with the folder writes the tables again and keeps the artifacts.
     *
     * @throws BackupException for the folder, or BACKUP_NO_SCHEMA
     * @throws io.keelson.server.base.db.DatabaseException for the database
     */
    public Manifest write() {
        url.requireUsable();
        Migrations.requireRestored(url);
        List<MigrationFile> files = Migrations.files(url);
        int version = files.stream().filter(MigrationFile::applied).mapToInt(MigrationFile::version).max()
                .orElseThrow(() -> new BackupException(Code.BACKUP_NO_SCHEMA, url + " has no schema of Keelson."));
        SchemaTables schema = SchemaTables.at(version, files);
        return BackupFolder.files(() -> {
            try (FileChannel _ = folder.begin(); Connection c = url.connect()) {
                return write(c, schema);
            } catch (FileSystemException e) {
                throw e;
            } catch (IOException e) {
                throw BackupFolder.unusable("write to", folder, e);
            } catch (SQLException e) {
                throw new BackupException(Code.BACKUP_INTERRUPTED, "The database ended the backup: " + e.getMessage()
                        + ". Call the command again.", e);
            }
        });
    }

    private Manifest write(Connection c, SchemaTables schema) throws SQLException, IOException {
        c.setAutoCommit(false);
        try (Statement statement = c.createStatement()) {
            statement.execute("set transaction isolation level repeatable read, read only");
            // no migration changes a table until its rows are read
            statement.execute("lock table " + String.join(", ", schema.tables()) + " in access share mode");
        }
        Place place = NOW.on(c).setTexts("tables", schema.tables()).one(RecordColumns.of(Place.class));
        List<Manifest.Table> tables = new ArrayList<>();
        Manifest.@Nullable Artifacts copied;
        try (Writer sums = new BufferedWriter(Files.newBufferedWriter(folder.sums()))) {
            long bytes = 0;
            for (String table : schema.tables()) {
                Manifest.Table written = table(c, table, sums, bytes, place.bytes);
                tables.add(written);
                bytes += written.bytes();
            }
            copied = artifacts == null ? null : new ArtifactFiles(folder, artifacts, progress).copyOut(c, sums);
        }
        BackupFolder.sync(folder.sums());
        Manifest manifest = new Manifest(Manifest.FORMAT, UUID.randomUUID(), keelson, place.version, schema.version(),
                schema.checksum(), place.now.truncatedTo(ChronoUnit.MILLIS), tables, sequences(c, schema.tables()),
                copied, ledger(c),
                SecretStore.keyIds(c), Digests.of(folder.sums()));
        folder.finish(manifest);
        return manifest;
    }

    private Manifest.Table table(Connection c, String table, Writer sums, long before, long all)
            throws SQLException, IOException {
        List<String> columns = COLUMNS.on(c).set("table", table).all(row -> row.getString("name"));
        String list = String.join(", ", columns.stream().map(BackupWriter::quoted).toList());
        CopyOut rows = c.unwrap(PGConnection.class).getCopyAPI()
                .copyOut("copy (select " + list + " from " + table + ") to stdout");
        try (TableFiles files = new TableFiles(folder, table, sums)) {
            long done = before;
            for (byte[] row = rows.readFromCopy(); row != null; row = rows.readFromCopy()) {
                files.add(row);
                done += row.length;
                progress.at(BackupFolder.TABLES, done, Math.max(done, all));
            }
            files.close();
            return files.summary(columns);
        } finally {
            if (rows.isActive()) {
                rows.cancelCopy();
            }
        }
    }

    static String quoted(String column) {
        return '"' + column.replace("\"", "\"\"") + '"';
    }

    /** Read after the tables, so that none is behind the rows. */
    private static List<Manifest.Sequence> sequences(Connection c, List<String> tables) throws SQLException {
        List<Manifest.Sequence> sequences = new ArrayList<>();
        for (String name : SEQUENCES.on(c).setTexts("tables", tables).all(row -> row.getString("name"))) {
            sequences.add(Sql.of("select '" + name + "' as name, last_value as value, is_called as called from " + name)
                    .on(c).one(RecordColumns.of(Manifest.Sequence.class)));
        }
        return sequences;
    }

    static List<Manifest.LedgerSum> ledger(Connection c) throws SQLException {
        return LedgerReader.sums(c).stream()
                .map(each -> new Manifest.LedgerSum(each.type(), each.entries(), each.amount().toPlainString()))
                .toList();
    }
}
