package io.keelson.server.outlet.backup;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.MigrationFile;
import io.keelson.server.base.db.Migrations;
import io.keelson.server.base.db.Sql;
import io.keelson.server.outlet.backup.BackupException.Code;
import io.keelson.server.tenant.money.Discrepancy;
import io.keelson.server.tenant.money.LedgerVerification;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * Restores a backup into an empty database and an artifact store. The restored rows, the ledger's sums and the files are compared
 * with the backup before servers may start.
 */
public final class BackupReader {

    private static final Pattern FILE = Pattern.compile("tables/\\w+\\.\\d{4,9}\\.copy\\.gz");

    private final DatabaseUrl url;
    private final RunFiles artifacts;
    private final BackupFolder folder;
    private final BackupProgress progress;

    /** @param artifacts the target of the files of runs */
    public BackupReader(DatabaseUrl url, RunFiles artifacts, BackupFolder folder, BackupProgress progress) {
        this.url = url;
        this.artifacts = artifacts;
        this.folder = folder;
        this.progress = progress;
    }

    /**
     * Restores, and brings the schema up to date. After an interruption the next call continues.
     *
     * @throws BackupException for the backup or the target
     * @throws io.keelson.server.base.db.DatabaseException for the database
     */
    public Manifest restore() {
        Manifest manifest = folder.read();
        url.requireUsable();
        List<MigrationFile> files = Migrations.files(url);
        int newest = files.getLast().version();
        SchemaTables schema = schema(manifest, files);
        BackupFolder.files(() -> {
            Map<String, String> sums = Digests.read(folder.sums());
            try (Connection c = url.connect()) {
                c.setAutoCommit(false);
                RestoreTarget target = new RestoreTarget(c, schema.tables());
                target.begin(manifest.id());
                Migrations.migrateTo(url, manifest.schema());
                target.prepare();
                load(c, target, manifest, sums);
                target.complete(manifest.sequences());
                if (manifest.artifacts() != null) {
                    new ArtifactFiles(folder, artifacts, progress).copyIn(sums);
                }
                compare(c, manifest);
                Migrations.migrateTo(url, newest);
                requireRightLedger();
                target.end();
            } catch (SQLException e) {
                throw new BackupException(Code.BACKUP_INTERRUPTED, "The database ended the restore: " + e.getMessage()
                        + ". Call the command again: it continues.", e);
            }
            return null;
        });
        return manifest;
    }

    private void requireRightLedger() {
        try (Database restored = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2))) {
            Discrepancy discrepancy = new LedgerVerification(restored).verify(null).discrepancy();
            if (discrepancy != null) {
                throw new BackupException(Code.LEDGER_WRONG,
                        "The restored ledger is that of the backup, and its books are wrong: "
                                + discrepancy.message() + ". `keelson ledger verify` checks them on a running server.");
            }
        }
    }

    /** @param files all migration files of this build */
    private SchemaTables schema(Manifest manifest, List<MigrationFile> files) {
        folder.requireKnown(manifest, files.getLast().version());
        SchemaTables schema = SchemaTables.at(manifest.schema(), files);
        List<String> names = manifest.tables().stream().map(Manifest.Table::name).toList();
        if (!schema.checksum().equals(manifest.schemaChecksum()) || !schema.tables().equals(names)) {
            throw new BackupException(Code.BACKUP_UNRELEASED, folder + " is of Keelson " + manifest.keelson()
                    + ", an unreleased build with another schema. Only that build restores it.");
        }
        return schema;
    }

    private void load(Connection c, RestoreTarget target, Manifest manifest, Map<String, String> sums)
            throws SQLException {
        Set<String> loaded = new HashSet<>(target.loaded());
        long done = 0;
        for (Manifest.Table table : manifest.tables()) {
            String columns = String.join(", ", table.columns().stream().map(BackupWriter::quoted).toList());
            for (String name : table.files()) {
                if (!FILE.matcher(name).matches()) {
                    throw BackupFolder.damage("backup.json names a file that is not one of a table.", null);
                }
                if (!loaded.contains(name)) {
                    String copy = "copy " + table.name() + " (" + columns + ") from stdin";
                    target.load(name, () -> copyIn(c, copy, folder.file(name), sums.get(name)));
                }
                done += table.bytes() / table.files().size();
                progress.at(BackupFolder.TABLES, done, manifest.bytes());
            }
        }
    }

    private static void copyIn(Connection c, String copy, Path file, @Nullable String digest) throws SQLException {
        try {
            if (!Digests.of(file).equals(digest)) {
                throw BackupFolder.damaged(file);
            }
            try (InputStream rows = new GZIPInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
                c.unwrap(PGConnection.class).getCopyAPI().copyIn(copy, rows);
            }
        } catch (NoSuchFileException e) {
            throw BackupFolder.damage(file + " is missing.", e);
        } catch (IOException e) {
            throw new BackupException(Code.BACKUP_FOLDER_UNUSABLE, "cannot read " + file + ": " + e.getMessage(), e);
        }
    }

    private static void compare(Connection c, Manifest manifest) throws SQLException {
        for (Manifest.Table table : manifest.tables()) {
            long rows = Sql.of("select count(*) as rows from " + table.name()).on(c).one(row -> row.getLong("rows"));
            if (rows != table.rows()) {
                throw new BackupException(Code.RESTORE_DIFFERS,
                        table.name() + " has " + rows + " rows; the backup has " + table.rows() + ".");
            }
        }
        if (!BackupWriter.ledger(c).equals(manifest.ledger())) {
            throw new BackupException(Code.RESTORE_DIFFERS, "The sums of the ledger are not those of the backup.");
        }
        c.commit();
    }
}
