package io.keelson.server.outlet.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.Breadth;
import io.keelson.server.api.http.ApiServer;
import io.keelson.server.api.http.Installation;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseException;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.Migrations;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.outlet.backup.BackupException.Code;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.money.LedgerVerification;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Backups of installations with rows in nearly every table, and their restore. */
@ExtendWith(Breadth.InFailures.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BackupTest {

    private static final String DEFINITIONS = """
            select 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) from pg_constraint
             where connamespace = 'public'::regnamespace and conrelid <> 0
            union all
            select 'trigger ' || tgenabled::text || ' ' || pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
            union all
            select 'table ' || relname || ' ' || relrowsecurity || ' ' || relforcerowsecurity from pg_class
             where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
            union all
            select 'index ' || indexdef from pg_indexes where schemaname = 'public'
             order by 1""";

    /** Listener that ends the work at its nth call, as a lost process does: nothing is undone. */
    private static final class Interruption implements BackupProgress {
        private int left;

        Interruption(int after) {
            left = after;
        }

        @Override
        public void at(String what, long done, long all) {
            if (left-- == 0) {
                throw new IllegalStateException("interrupted");
            }
        }
    }

    @TempDir
    static Path folder;

    private DatabaseUrl source;
    private Path artifacts;
    private BackupFolder backup;
    private Manifest manifest;

    @BeforeAll
    void backUp() throws Exception {
        Path data = folder.resolve("data");
        artifacts = data.resolve("artifacts");
        try (Installation installation = new Installation(data, TestDatabase.createUrl())) {
            source = installation.url;
        }
        backup = new BackupFolder(folder.resolve("backup"));
        manifest = new BackupWriter(source, RunFiles.in(artifacts), backup, "test", BackupProgress.NONE).write();
    }

    private static List<String> column(DatabaseUrl url, String sql) throws SQLException {
        try (Connection c = url.connect(); Statement statement = c.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> found = new ArrayList<>();
            while (rows.next()) {
                found.add(rows.getString(1));
            }
            return found;
        }
    }

    /** A digest of each table's rows. */
    private static TreeMap<String, String> contents(DatabaseUrl url, List<String> tables) throws SQLException {
        TreeMap<String, String> contents = new TreeMap<>();
        for (String table : tables) {
            contents.put(table,
                    column(url, "select md5(string_agg(t::text, ',' order by t::text)) || ' ' || count(*) from "
                            + table + " t").getFirst());
        }
        return contents;
    }

    private static List<String> tables(Manifest manifest) {
        return manifest.tables().stream().map(Manifest.Table::name).toList();
    }

    private Manifest restore(DatabaseUrl target, Path store, BackupFolder from) {
        return new BackupReader(target, RunFiles.in(store), from, BackupProgress.NONE).restore();
    }

    private static Stream<DatabaseUrl> owners() {
        return Stream.of(TestDatabase.createEmptyUrl(), TestDatabase.createEmptyUrlOfPlainOwner());
    }

    @Test
    void hasEveryTableOfTheSchema() throws SQLException {
        assertThat(tables(manifest)).containsExactlyInAnyOrderElementsOf(column(source, """
                select relname from pg_class
                 where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relpersistence = 'p'
                   and relname <> 'flyway_schema_history' and not relispartition"""));
        assertThat(manifest.tables()).filteredOn(table -> table.rows() > 0).hasSizeGreaterThan(45);
        assertThat(manifest.artifacts().missing()).isEmpty();
        assertThat(manifest.artifacts().files()).isPositive();
        assertThat(manifest.secretKeys()).hasSize(1);
    }

    @ParameterizedTest
    @MethodSource("owners")
    void everyRowComesBack(DatabaseUrl target) throws Exception {
        Path store = folder.resolve("store-" + target.database());

        assertThat(restore(target, store, backup)).isEqualTo(manifest);

        assertThat(contents(target, tables(manifest))).isEqualTo(contents(source, tables(manifest)));
        assertThat(files(store)).containsExactlyEntriesOf(files(artifacts));
        DatabaseUrl fresh = TestDatabase.createEmptyUrl();
        Migrations.migrate(fresh);
        assertThat(column(target, DEFINITIONS)).isEqualTo(column(fresh, DEFINITIONS));
        assertThat(column(target, "select to_regclass('keelson_restore')")).containsExactly((String) null);
        try (Database restored = new Database(target, DatabaseOptions.DEFAULTS)) {
            assertThat(new LedgerVerification(restored).verify(null).discrepancy()).isNull();
        }
    }

    /** The sequences continue, and waiting runs can be cancelled. */
    @Test
    @Breadth.InPart(2)
    void aServerGoesOnFromARestore() throws Exception {
        DatabaseUrl target = TestDatabase.createEmptyUrl();
        Path data = folder.resolve("continued");
        restore(target, data.resolve("artifacts"), backup);
        List<String> keyFile = Files.readAllLines(folder.resolve("data/secret-key"));
        Files.write(data.resolve("secret-key"), keyFile);
        List<String> open =
                column(target, "select id::text from orchestration_runs where state = 'running' and workspace_id = '"
                        + Bootstrap.DEFAULT_WORKSPACE + "'");

        try (ApiServer api = new ApiServer(data, target)) {
            String made = api.create("""
                    {"name": "after", "start": true, "plan": {"tasks": [{"id": "a", "steps": [{"tool": "noop"}]}]}}""");
            api.awaitState(made, "completed");
            assertThat(open).isNotEmpty()
                    .allSatisfy(run -> assertThat(api.post("/runs/" + run + "/cancel", "{}").status())
                            .isEqualTo(200));
        }
        try (Database restored = new Database(target, DatabaseOptions.DEFAULTS)) {
            assertThat(new LedgerVerification(restored).verify(null).discrepancy()).isNull();
        }
    }

    /** At each fifth call of the listener, which is called for each file of a table and each artifact. */
    @Test
    @Breadth.InPart(2)
    void aRestoreContinuesAfterEachInterruption() throws Exception {
        DatabaseUrl target = TestDatabase.createEmptyUrl();
        Path store = folder.resolve("interrupted");
        int interruptions = 0;
        boolean restored = false;
        while (!restored) {
            try {
                new BackupReader(target, RunFiles.in(store), backup, new Interruption(interruptions)).restore();
                restored = true;
            } catch (IllegalStateException e) {
                interruptions += 5;
                assertThatThrownBy(() -> Migrations.migrate(target)).isInstanceOfSatisfying(DatabaseException.class,
                        refused -> assertThat(refused.code())
                                .isEqualTo(DatabaseException.Code.DATABASE_RESTORE_UNFINISHED));
            }
        }
        assertThat(interruptions).isGreaterThan(40);
        assertThat(contents(target, tables(manifest))).isEqualTo(contents(source, tables(manifest)));
        assertThat(files(store)).containsExactlyEntriesOf(files(artifacts));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 30})
    void anInterruptedBackupBeginsAgain(int after) throws Exception {
        Path open = Files.createDirectory(folder.resolve("again-" + after),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        BackupFolder other = new BackupFolder(open);
        assertThatThrownBy(
                () -> new BackupWriter(source, RunFiles.in(artifacts), other, "test", new Interruption(after)).write())
                .hasMessage("interrupted");
        refused(Code.BACKUP_INCOMPLETE, other::read);
        refused(Code.BACKUP_INCOMPLETE, () -> restore(TestDatabase.createEmptyUrl(), folder.resolve("none"), other));

        Path left = Files.createDirectories(open.resolve("artifacts/of")).resolve("another");
        Files.writeString(left, "installation");

        Manifest second = new BackupWriter(source, RunFiles.in(artifacts), other, "test", BackupProgress.NONE).write();

        assertThat(second.tables()).isEqualTo(manifest.tables());
        assertThat(left).doesNotExist();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(open))).isEqualTo("rwx------");
        assertThat(other.verify(BackupProgress.NONE)).isEqualTo(second);
    }

    @Test
    void aFinishedBackupAndForeignFilesAreKept() throws IOException {
        refused(Code.BACKUP_FOLDER_NOT_EMPTY,
                () -> new BackupWriter(source, RunFiles.in(artifacts), backup, "test", BackupProgress.NONE).write());
        Path foreign = Files.createDirectory(folder.resolve("foreign"));
        Files.writeString(foreign.resolve("notes.txt"), "mine");
        refused(Code.BACKUP_FOLDER_NOT_EMPTY,
                () -> new BackupWriter(source, RunFiles.in(artifacts), new BackupFolder(foreign), "test",
                        BackupProgress.NONE)
                        .write());
        assertThat(foreign).isDirectoryContaining("glob:**/notes.txt");
        backup.verify(BackupProgress.NONE);
    }

    /** Every file in turn: one bit of it changed, and the file gone. */
    @Test
    @Breadth.InPart(2)
    void aDamagedFileIsNamedAndNoServerStarts() throws Exception {
        Path copy = folder.resolve("damaged");
        copy(Path.of(backup.toString()), copy);
        BackupFolder damaged = new BackupFolder(copy);
        List<String> names = new ArrayList<>(Digests.read(damaged.sums()).keySet());
        String artifact = names.getLast();
        names.addAll(List.of("SHA256SUMS", "backup.json.sha256", "backup.json"));
        for (String name : names) {
            Path file = copy.resolve(name);
            byte[] right = Files.readAllBytes(file);
            byte[] wrong = right.clone();
            wrong[wrong.length / 2] ^= 4;
            Files.write(file, wrong);
            refused(Code.BACKUP_DAMAGED, () -> damaged.verify(BackupProgress.NONE));
            Files.delete(file);
            refused(name.equals("backup.json") ? Code.BACKUP_INCOMPLETE : Code.BACKUP_DAMAGED,
                    () -> damaged.verify(BackupProgress.NONE));
            Files.write(file, right);
        }
        damaged.verify(BackupProgress.NONE);

        for (String name : List.of("tables/workspaces.0001.copy.gz", artifact)) {
            DatabaseUrl target = TestDatabase.createEmptyUrl();
            Path store = folder.resolve("damaged-" + target.database());
            byte[] right = Files.readAllBytes(copy.resolve(name));
            Files.write(copy.resolve(name), new byte[right.length]);
            refused(Code.BACKUP_DAMAGED, () -> restore(target, store, damaged));
            assertThatThrownBy(() -> Migrations.migrate(target)).isInstanceOf(DatabaseException.class);
            Files.write(copy.resolve(name), right);
            restore(target, store, damaged);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "[]", "{}", "{\"format\": 1}", "{\"format\": 1, \"tables\": null}"})
    void anUnreadableManifestIsDamage(String text) throws IOException {
        Path copy = Files.createTempDirectory(folder, "manifest");
        writeManifest(copy, text);
        refused(Code.BACKUP_DAMAGED, () -> new BackupFolder(copy).read());
    }

    /** With the digest of the text. */
    private static void writeManifest(Path backup, String text) throws IOException {
        Path file = backup.resolve("backup.json");
        Files.writeString(file, text);
        Files.writeString(backup.resolve("backup.json.sha256"), Digests.line(Digests.of(file), "backup.json"));
    }

    @Test
    void backupsOfOtherVersionsAreRefused() throws Exception {
        Path copy = folder.resolve("versions");
        copy(Path.of(backup.toString()), copy);
        String right = Files.readString(copy.resolve("backup.json"));
        DatabaseUrl target = TestDatabase.createEmptyUrl();
        List<List<String>> changes = List.of(List.of("\"format\" : 1", "\"format\" : 2", "BACKUP_NEWER"),
                List.of("\"schema\" : " + manifest.schema(), "\"schema\" : 999", "BACKUP_NEWER"),
                List.of(manifest.schemaChecksum(), "0".repeat(64), "BACKUP_UNRELEASED"),
                List.of("\"name\" : \"workspaces\"", "\"name\" : \"pg_class\"", "BACKUP_UNRELEASED"),
                List.of("tables/workspaces.0001", "../workspaces.0001", "BACKUP_DAMAGED"));
        for (List<String> change : changes) {
            assertThat(right).contains(change.get(0));
            writeManifest(copy, right.replace(change.get(0), change.get(1)));
            refused(Code.valueOf(change.get(2)), () -> restore(target, folder.resolve("none"), new BackupFolder(copy)));
        }
    }

    @Test
    void anUnfinishedRestoreIsNotBackedUp() {
        DatabaseUrl target = TestDatabase.createEmptyUrl();
        assertThatThrownBy(
                () -> new BackupReader(target, RunFiles.in(folder.resolve("none")), backup, new Interruption(9))
                        .restore())
                .hasMessage("interrupted");
        assertThatThrownBy(() -> new BackupWriter(target, null, new BackupFolder(folder.resolve("half")), "test",
                BackupProgress.NONE).write()).isInstanceOfSatisfying(DatabaseException.class,
                        e -> {
                            assertThat(e.code()).isEqualTo(DatabaseException.Code.DATABASE_RESTORE_UNFINISHED);
                            assertThat(e).hasMessageContaining("restore of the backup " + manifest.id() + " into");
                        });
    }

    @Test
    void theNewestVersionIsThatOfTheFiles() {
        assertThat(Migrations.files(source).getLast().version()).isEqualTo(Migrations.NEWEST);
    }

    /** Files that are links to /dev/full, a device without space. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void aFullDiskHasItsPathAndTheNextStep() throws Exception {
        Path full = Files.createDirectory(folder.resolve("full"));
        Files.createFile(full.resolve("unfinished"));
        Files.createSymbolicLink(full.resolve("SHA256SUMS"), Path.of("/dev/full"));
        assertThatThrownBy(
                () -> new BackupWriter(source, RunFiles.in(artifacts), new BackupFolder(full), "test",
                        BackupProgress.NONE)
                        .write())
                .hasMessageContaining("cannot write to " + full + ": No space left on device.")
                .hasMessageEndingWith("call the command again: it continues.");

        Path store = folder.resolve("full-store");
        String artifact = Digests.read(backup.sums()).keySet().stream().filter(name -> name.startsWith("artifacts/"))
                .findFirst().orElseThrow().substring("artifacts/".length());
        Path copy = store.resolve(artifact + ".new");
        Files.createDirectories(copy.getParent());
        Files.createSymbolicLink(copy, Path.of("/dev/full"));
        assertThatThrownBy(
                () -> new ArtifactFiles(backup, RunFiles.in(store), BackupProgress.NONE)
                        .copyIn(Digests.read(backup.sums())))
                .hasMessageContaining("cannot write to " + store + ": No space left on device.")
                .hasMessageEndingWith("call the command again: it continues.");
    }

    @Test
    void onlyAnEmptyDatabaseIsRestoredInto() throws SQLException {
        refused(Code.RESTORE_TARGET_NOT_EMPTY, () -> restore(source, folder.resolve("none"), backup));
        assertThat(contents(source, tables(manifest))).containsKey("workspaces");
        refused(Code.BACKUP_NO_SCHEMA, () -> new BackupWriter(TestDatabase.createEmptyUrl(), null,
                new BackupFolder(folder.resolve("nothing")), "test", BackupProgress.NONE).write());
    }

    /** While runs are made and charged, a backup has the books of one moment. */
    @Test
    void aBackupOfAServerAtWorkIsOfOneMoment() throws Exception {
        DatabaseUrl busy = TestDatabase.createUrl();
        DatabaseUrl target = TestDatabase.createEmptyUrl();
        BackupFolder hot = new BackupFolder(folder.resolve("hot"));
        try (ApiServer api = new ApiServer(folder.resolve("busy"), busy)) {
            BackupProgress work = (what, done, all) -> api.create("""
                    {"name": "w", "start": true, "plan": {"tasks": [
                      {"id": "a", "steps": [{"tool": "noop", "input": {"cost": 0.25}}]}]}}""");
            work.at("", 0, 0);
            new BackupWriter(busy, RunFiles.in(folder.resolve("busy/artifacts")), hot, "test", work).write();
        }
        restore(target, folder.resolve("none"), hot);
        assertThat(column(busy, "select count(*) from orchestration_runs").getFirst())
                .isNotEqualTo(column(target, "select count(*) from orchestration_runs").getFirst());
        try (Database restored = new Database(target, DatabaseOptions.DEFAULTS)) {
            assertThat(new LedgerVerification(restored).verify(null).discrepancy()).isNull();
        }
    }

    private static void refused(Code code, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(BackupException.class,
                e -> assertThat(e.code()).as(e.getMessage()).isEqualTo(code));
    }

    private static TreeMap<String, String> files(Path root) throws IOException {
        TreeMap<String, String> found = new TreeMap<>();
        try (var walk = Files.walk(root)) {
            for (Path file : walk.filter(Files::isRegularFile)
                    .filter(file -> !file.startsWith(root.resolve("incoming"))).toList()) {
                found.put(root.relativize(file).toString(), Files.readString(file, StandardCharsets.ISO_8859_1));
            }
        }
        return found;
    }

    private static void copy(Path from, Path to) throws IOException {
        try (var walk = Files.walk(from)) {
            for (Path file : walk.toList()) {
                Files.copy(file, to.resolve(from.relativize(file).toString()), StandardCopyOption.COPY_ATTRIBUTES);
            }
        }
    }
}
