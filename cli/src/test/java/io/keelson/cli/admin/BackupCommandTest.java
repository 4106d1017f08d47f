package io.keelson.cli.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess;
import io.keelson.cli.CliProcess.Result;
import io.keelson.cli.InProcessCli;
import io.keelson.core.Breadth;
import io.keelson.server.annex.s3.ObjectStoreProcess;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BackupCommandTest {

    @TempDir
    static Path folder;

    private static DatabaseUrl database;
    private static InProcessCli cli;
    private static Map<String, String> there;

    @BeforeAll
    static void run() throws Exception {
        database = TestDatabase.createUrl();
        cli = new InProcessCli(folder.resolve("data"), database, Map.of());
        there = place(folder.resolve("data"), database);
        cli.lines("run", CliProcess.mission(folder, """
                plan:
                  tasks:
                    - id: a
                      steps: [{tool: artifact.write, input: {name: note.txt, content: kept}}]
                """));
    }

    @AfterAll
    static void close() {
        cli.close();
    }

    private static Map<String, String> place(Path data, DatabaseUrl url) {
        return Map.of("KEELSON_DATA_DIR", data.toString(), "KEELSON_DATABASE_URL", TestDatabase.text(url));
    }

    private static void refused(Result result, int exit, String code) {
        assertThat(result.code()).as(result.err()).isEqualTo(exit);
        assertThat(result.err()).startsWith("error: ").contains("[" + code + "]");
    }

    @Test
    @Breadth.InPart(1)
    void artifactsOfAnObjectStoreAreMovedBackedUpAndRestored() throws Exception {
        Map<String, String> store = new HashMap<>(there);
        store.putAll(ObjectStoreProcess.shared().variables());
        Map<String, String> data = new HashMap<>(store);
        String bucket = data.remove("KEELSON_ARTIFACTS");

        Result moved = InProcessCli.run(data, "artifacts", "move", "--to", bucket, "--json");
        assertThat(moved.code()).as(moved.err()).isZero();
        assertThat(moved.json().get("copied").asInt()).isEqualTo(1);
        assertThat(moved.err()).contains("stop the servers, call the command again");
        Result again = InProcessCli.run(store, "artifacts", "move", "--from", "folder");
        assertThat(again.out()).startsWith(bucket + "/ has 1 file; 0 files copied");
        assertThat(InProcessCli.run(store, "doctor").out()).contains("ok    artifacts ");

        String backup = folder.resolve("from-store").toString();
        Result made = InProcessCli.run(store, "backup", backup, "--json");
        assertThat(made.json().get("artifacts").asInt()).as(made.err()).isEqualTo(1);
        Map<String, String> target = new HashMap<>(ObjectStoreProcess.shared().variables());
        target.putAll(place(folder.resolve("restored-to-store"), TestDatabase.createEmptyUrl()));
        Result restored = InProcessCli.run(target, "restore", backup, "--without-secret-key");
        assertThat(restored.out()).as(restored.err()).contains("1 artifact, 4 B");
        assertThat(ObjectStoreProcess.shared().objects())
                .anyMatch(key -> key.startsWith(target.get("KEELSON_ARTIFACTS").substring("s3://".length())));
    }

    @Test
    @Breadth.InPart(1)
    void restoredDatabaseTakesThePrefixOfAnotherOneOnlyIfItIsTold() throws Exception {
        Map<String, String> first = new HashMap<>(there);
        first.putAll(ObjectStoreProcess.shared().variables());
        String place = first.get("KEELSON_ARTIFACTS");
        assertThat(InProcessCli.run(first, "artifacts", "move", "--from", "folder").code()).isZero();
        String backup = folder.resolve("owned").toString();
        assertThat(InProcessCli.run(first, "backup", backup).code()).isZero();
        Map<String, String> second = new HashMap<>(first);
        second.putAll(place(folder.resolve("second"), TestDatabase.createEmptyUrl()));

        String code = "ARTIFACT_STORE_OF_OTHER_DATABASE";
        refused(InProcessCli.run(second, "restore", backup, "--without-secret-key"), 1, code);
        Result restored = InProcessCli.run(second, "restore", backup, "--without-secret-key", "--adopt-artifacts");
        assertThat(restored.code()).as(restored.err()).isZero();
        assertThat(InProcessCli.run(second, "doctor").out()).contains("ok    artifacts ", place + "/, of the database ")
                .doesNotContain(code);
        Result doctor = InProcessCli.run(first, "doctor");
        assertThat(doctor.code()).isOne();
        assertThat(doctor.out()).contains("fail  artifacts ", code);
        refused(InProcessCli.run(first, "artifacts", "move", "--from", "folder"), 1, code);
        refused(InProcessCli.run(first, "artifacts", "move", "--to", "folder", "--remove"), 1, code);
        refused(InProcessCli.run(first, "artifacts", "adopt"), 2, "CONFIRMATION_NEEDED");
        Result adopted = InProcessCli.run(first, "artifacts", "adopt", "--yes", "--json");
        assertThat(adopted.json().get("former_owner")).isNotEqualTo(adopted.json().get("owner"));
        assertThat(InProcessCli.run(first, "doctor").out()).doesNotContain(code);
    }

    @Test
    void moveNeedsTwoStores() {
        refused(InProcessCli.run(there, "artifacts", "adopt"), 2, "USAGE");
        refused(InProcessCli.run(there, "artifacts", "move"), 2, "USAGE");
        refused(InProcessCli.run(there, "artifacts", "move", "--to", "bucket"), 2, "USAGE");
        refused(InProcessCli.run(there, "artifacts"), 2, "USAGE");
        Map<String, String> away = new HashMap<>(there);
        away.putAll(Map.of("KEELSON_S3_ENDPOINT", "http://127.0.0.1:9", "KEELSON_S3_ACCESS_KEY", "id",
                "KEELSON_S3_SECRET_KEY", "secret"));
        refused(InProcessCli.run(away, "artifacts", "move", "--to", "s3://bucket"), 1, "ARTIFACT_STORE_UNREACHABLE");
    }

    @Test
    void aBackupOfARunningServerIsVerifiedAndRestored() {
        String backup = folder.resolve("backup").toString();

        Result made = InProcessCli.run(there, "backup", backup, "--json");
        assertThat(made.code()).as(made.err()).isZero();
        assertThat(made.json().get("artifacts").asInt()).isEqualTo(1);
        assertThat(made.json().get("artifacts_missing").asInt()).isZero();
        assertThat(InProcessCli.run(there, "doctor").out()).contains("ok    backups ");
        refused(InProcessCli.run(there, "backup", backup), 1, "BACKUP_FOLDER_NOT_EMPTY");
        assertThat(InProcessCli.run(Map.of(), "backup", backup, "--verify").out())
                .startsWith("verified " + backup + ": ");

        Map<String, String> target = place(folder.resolve("restored"), TestDatabase.createEmptyUrl());
        Result restored = InProcessCli.run(target, "restore", backup, "--without-secret-key");
        assertThat(restored.code()).as(restored.err()).isZero();
        assertThat(restored.err()).contains(
                "server` with KEELSON_DATA_DIR=" + folder.resolve("restored") + " and KEELSON_DATABASE_URL",
                "former API keys stay valid");
        assertThat(restored.out()).startsWith("restored " + backup + ": ").contains("1 artifact, 4 B");
        refused(InProcessCli.run(target, "restore", backup, "--without-secret-key"), 1,
                "RESTORE_TARGET_NOT_EMPTY");
    }

    @Test
    void artifactsMayBeLeftOut() {
        Path backup = folder.resolve("rows");
        assertThat(InProcessCli.run(there, "backup", backup.toString(), "--no-artifacts").out())
                .contains("without artifacts");
        assertThat(backup.resolve("artifacts")).doesNotExist();
    }

    @Test
    void aMissingArtifactIsAWarning() throws Exception {
        refused(InProcessCli.run(there, "backup", folder.resolve("nostore").toString(), "--artifacts",
                folder.resolve("nowhere").toString()), 1, "BACKUP_FOLDER_UNUSABLE");
        Files.createDirectories(folder.resolve("empty"));
        Result result = InProcessCli.run(there, "backup", folder.resolve("missing").toString(), "--artifacts",
                folder.resolve("empty").toString());
        assertThat(result.code()).isZero();
        assertThat(result.err())
                .contains("warning: the store did not have 1 artifact of the backup, the first: artifacts/");
        assertThat(InProcessCli.run(there, "backup", folder.resolve("missing").toString(), "--verify").err())
                .contains("warning: the store did not have 1 artifact");
    }

    @Test
    void theKeyOfSecretsIsAskedFor() throws Exception {
        Files.writeString(folder.resolve("secret"), "0123456789");
        cli.lines("secrets", "set", "token", "--file", folder.resolve("secret").toString());
        Path backup = folder.resolve("secrets");
        assertThat(InProcessCli.run(there, "backup", backup.toString()).err()).contains(
                "which is not in the backup: keep " + folder.resolve("data/secret-key") + " apart from it");
        Path data = folder.resolve("other");
        Map<String, String> target = place(data, TestDatabase.createEmptyUrl());

        refused(InProcessCli.run(target, "restore", backup.toString()), 2, "SECRET_KEY_MISSING");
        Files.writeString(data.resolve("secret-key"), Base64.getEncoder().encodeToString(new byte[32]));
        assertThat(InProcessCli.run(target, "restore", backup.toString()).err())
                .containsPattern("which is not here \\(here: [\\w-]+\\): set KEELSON_SECRET_KEY");
        Files.delete(data.resolve("secret-key"));
        Files.copy(folder.resolve("data/secret-key"), data.resolve("secret-key"));
        assertThat(InProcessCli.run(target, "restore", backup.toString()).code()).isZero();
        assertThat(InProcessCli.run(place(folder.resolve("keyless"), TestDatabase.createEmptyUrl()), "restore",
                backup.toString(), "--without-secret-key").code()).isZero();
    }

    /** Found before the embedded database is made. */
    @Test
    void aBackupThatCannotBeRestoredMakesNoDatabase() throws Exception {
        Path backup = folder.resolve("unusable");
        assertThat(InProcessCli.run(there, "backup", backup.toString()).code()).isZero();
        Path data = folder.resolve("untouched");
        Map<String, String> target = Map.of("KEELSON_DATA_DIR", data.toString());
        assertThat(InProcessCli.run(target, "restore", backup + "x").err()).contains(backup + "x does not exist.");

        Path table = backup.resolve("tables/workspaces.0001.copy.gz");
        byte[] right = Files.readAllBytes(table);
        Files.write(table, new byte[0]);
        Result damaged = InProcessCli.run(target, "restore", backup.toString());
        refused(damaged, 1, "BACKUP_DAMAGED");
        assertThat(damaged.err()).contains("Continue with an intact copy of the backup, or use another backup.");
        Files.write(table, right);

        Path manifest = backup.resolve("backup.json");
        Files.writeString(manifest, Files.readString(manifest).replaceFirst("\"schema\" : \\d+", "\"schema\" : 999"));
        Files.writeString(backup.resolve("backup.json.sha256"), HexFormat.of().formatHex(
                MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(manifest))) + "  backup.json\n");
        assertThat(InProcessCli.run(Map.of(), "backup", backup.toString(), "--verify").err())
                .contains("it needs Keelson ", " or newer");
        refused(InProcessCli.run(target, "restore", backup.toString()), 1, "BACKUP_NEWER");
        assertThat(data).doesNotExist();
    }

    @Test
    void badPlacesAreNamed() throws Exception {
        Map<String, String> nothing = Map.of("KEELSON_DATA_DIR", folder.resolve("nothing").toString());
        refused(InProcessCli.run(nothing, "backup", folder.resolve("b").toString()), 1, "BACKUP_NO_SCHEMA");
        refused(InProcessCli.run(place(folder.resolve("x"), TestDatabase.createEmptyUrl()), "backup",
                folder.resolve("b").toString()), 1, "BACKUP_NO_SCHEMA");
        refused(InProcessCli.run(there, "restore", folder.resolve("b").toString()), 1, "BACKUP_INCOMPLETE");
        refused(InProcessCli.run(there, "backup", folder.resolve("data/artifacts/b").toString()), 2,
                "BACKUP_FOLDER_UNUSABLE");
        Path file = Files.writeString(folder.resolve("file"), "x");
        refused(InProcessCli.run(there, "backup", file.toString()), 1, "BACKUP_FOLDER_UNUSABLE");
        refused(InProcessCli.run(there, "backup", file + "/below"), 1, "BACKUP_FOLDER_UNUSABLE");
        refused(InProcessCli.run(Map.of("KEELSON_DATABASE_URL", "postgresql://u@127.0.0.1:1/none"), "backup",
                folder.resolve("b").toString()), 1, "DATABASE_UNREACHABLE");
    }
}
