package io.keelson.server.outlet.backup;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.http.ApiServer;
import io.keelson.server.api.http.Installation;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.money.LedgerVerification;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Data that a release wrote, brought up to date by this build. {@code src/test/resources/releases/VERSION.zip} has the files
 * {@code backup/}, a folder of {@code keelson backup}, and {@code secret-key} of an installation with rows in nearly every table. With
 * {@code -Dfreeze.schema=true}, as the steps of a release say, this test makes the file of the version.
 */
class ReleasedDataTest {

    private static final Path ROOT = Path.of("..");
    private static final Path RELEASES = Path.of("src/test/resources/releases");
    private static final Pattern VERSION =
            Pattern.compile("<artifactId>keelson-parent</artifactId>\\s+<version>([\\d.]+)");
    private static final Pattern RELEASE = Pattern.compile("(?m)^## \\[([\\d.]+)]");

    @TempDir
    private Path folder;

    @Test
    void everyReleaseHasItsData() throws Exception {
        if (Boolean.getBoolean("freeze.schema")) {
            Matcher version = VERSION.matcher(Files.readString(ROOT.resolve("pom.xml")));
            assertThat(version.find()).isTrue();
            Path zip = RELEASES.resolve(version.group(1) + ".zip");
            if (Files.notExists(zip)) {
                Files.createDirectories(RELEASES);
                write(zip);
            }
        }
        assertThat(RELEASE.matcher(Files.readString(ROOT.resolve("CHANGELOG.md"))).results()
                .map(each -> RELEASES.resolve(each.group(1) + ".zip")))
                .as("add the data of the release by -Dfreeze.schema=true").allMatch(Files::exists);
    }

    @Test
    void aServerContinuesWithTheDataOfEachRelease() throws Exception {
        if (Files.isDirectory(RELEASES)) {
            try (Stream<Path> all = Files.list(RELEASES)) {
                for (Path zip : all.sorted().toList()) {
                    upgrade(zip);
                }
            }
        }
    }

    private void upgrade(Path zip) throws Exception {
        Path data = Files.createTempDirectory(folder, "data");
        Path backup = Files.createTempDirectory(folder, "backup");
        try (FileSystem packed = FileSystems.newFileSystem(zip)) {
            copy(packed.getPath("backup"), backup);
            Files.copy(packed.getPath("secret-key"), data.resolve("secret-key"));
        }
        DatabaseUrl target = TestDatabase.createEmptyUrl();
        Manifest manifest = new BackupReader(target, RunFiles.in(data.resolve("artifacts")), new BackupFolder(backup),
                BackupProgress.NONE).restore();
        assertThat(manifest.tables()).filteredOn(table -> table.rows() > 0).hasSizeGreaterThan(45);
        try (Database database = new Database(target, DatabaseOptions.DEFAULTS.withPoolSize(2))) {
            List<String> open = ids(database, "state = 'running'");
            assertThat(open).isNotEmpty();
            try (ApiServer api = new ApiServer(data, target)) {
                String made = api
                        .create("""
                        {"name": "after", "start": true, "plan": {"tasks": [{"id": "a", "steps": [{"tool": "noop"}]}]}}""");
                api.awaitState(made, "completed");
                // a run whose waits have ended since the release may end by itself
                open.forEach(run -> assertThat(api.post("/runs/" + run + "/cancel", "{}").status()).isIn(200, 409));
                Awaitility.await()
                        .until(() -> ids(database, "state_type <> 'terminal'").stream().noneMatch(open::contains));
                for (String run : ids(database, "true")) {
                    assertThat(api.get("/api/v1/runs/" + run).status()).isEqualTo(200);
                    assertThat(api.get("/api/v1/runs/" + run + "/events").status()).isEqualTo(200);
                }
                assertThat(api.get("/api/v1/schedules").json().get("items")).isNotEmpty();
                assertThat(api.get("/api/v1/secrets").json().get("items")).isNotEmpty();
            }
            assertThat(new LedgerVerification(database).verify(null).discrepancy()).isNull();
        }
    }

    private static List<String> ids(Database database, String where) {
        return database.withConnection(c -> {
            List<String> ids = new ArrayList<>();
            try (Statement statement = c.createStatement(); ResultSet row = statement.executeQuery(
                    "select id::text from orchestration_runs where workspace_id = '" + Bootstrap.DEFAULT_WORKSPACE
                            + "' and " + where)) {
                while (row.next()) {
                    ids.add(row.getString(1));
                }
                return ids;
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private void write(Path zip) throws Exception {
        Path data = folder.resolve("installation");
        Path backup = folder.resolve("written");
        DatabaseUrl url = TestDatabase.createUrl();
        new Installation(data, url).close();
        Manifest manifest =
                new BackupWriter(url, RunFiles.in(data.resolve("artifacts")), new BackupFolder(backup), "release",
                        BackupProgress.NONE).write();
        assertThat(manifest.artifacts()).isNotNull();
        try (OutputStream out = Files.newOutputStream(zip); ZipOutputStream packed = new ZipOutputStream(out);
                Stream<Path> files = Files.walk(backup)) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                add(packed, "backup/" + backup.relativize(file), file);
            }
            add(packed, "secret-key", data.resolve("secret-key"));
        }
    }

    private static void add(ZipOutputStream packed, String name, Path file) throws IOException {
        ZipEntry entry = new ZipEntry(name);
        entry.setTimeLocal(LocalDateTime.of(2000, 1, 1, 0, 0));
        packed.putNextEntry(entry);
        Files.copy(file, packed);
        packed.closeEntry();
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : all.filter(Files::isRegularFile).toList()) {
                Path target = to.resolve(from.relativize(each).toString());
                Files.createDirectories(target.getParent());
                Files.copy(each, target);
            }
        }
    }
}
