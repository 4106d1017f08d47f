package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.ServerLog;
import io.keelson.server.base.db.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** What a tenant reads of the server's machine by the tools for files. */
@Breadth.Spread
class AllowedFoldersApiTest {

    @TempDir
    Path base;

    @Test
    void serverWithoutAllowedFoldersReadsNone() throws Exception {
        try (ApiServer api = server(Map.of())) {
            Files.writeString(base.resolve("note.txt"), "a note");
            assertThat(read(api, "note.txt")).isEqualTo("PATH_NOT_ALLOWED");
            assertThat(read(api, base.resolve("note.txt").toString())).isEqualTo("PATH_NOT_ALLOWED");
            assertThat(read(api, base.resolve("data/api-key").toString())).isEqualTo("PATH_NOT_ALLOWED");
        }
    }

    @Test
    void dataFolderIsNeverReadable() throws Exception {
        Path config = Files.writeString(base.resolve("settings"), "KEELSON_PROVIDER_TOKEN=hush\n");
        Path log = base.resolve("log");
        try (ServerLog recorded = ServerLog.into(log); ApiServer api =
                server(Map.of("KEELSON_ALLOWED_FOLDERS", "/:" + base, "KEELSON_CONFIG", config.toString()))) {
            Files.writeString(base.resolve("note.txt"), "a note");
            Files.createSymbolicLink(base.resolve("link"), base.resolve("data"));
            assertThat(read(api, base.resolve("note.txt").toString())).isEqualTo("a note");
            for (String path : List.of(base + "/data/api-key", base + "/data/secret-key", base + "/link/api-key",
                    base + "/data/../link/api-key", config.toString(), "/proc/self/environ", "/proc/self/root" + base
                            + "/data/api-key",
                    "/dev/stdin")) {
                assertThat(read(api, path)).as(path).isEqualTo("PATH_NOT_ALLOWED");
            }
        }
        assertThat(log).content().contains("the allowed folder / contains the data folder");
    }

    @Test
    void workspaceFoldersReplaceTheServersFolders() throws Exception {
        Path shared = Files.createDirectory(base.resolve("shared"));
        Path acme = Files.createDirectory(base.resolve("acme"));
        Path note = Files.writeString(shared.resolve("note.txt"), "for all");
        Files.writeString(acme.resolve("own.txt"), "of acme");
        try (ApiServer api = server(Map.of("KEELSON_ALLOWED_FOLDERS", shared.toString()))) {
            String bearer = api.stranger();
            String workspace = api.get("/api/v1/whoami", "Authorization", bearer).json().at("/workspace/id")
                    .stringValue();
            assertThat(read(api, note.toString(), bearer)).isEqualTo("for all");

            assertThat(change(api, workspace, "[\"" + acme + "\", \"" + base + "\"]").get("allowed_folders").get(0)
                    .stringValue()).isEqualTo(acme.toString());
            assertThat(read(api, "own.txt", bearer)).isEqualTo("of acme");
            assertThat(read(api, note.toString(), bearer)).isEqualTo("for all");
            assertThat(read(api, base + "/data/api-key", bearer)).isEqualTo("PATH_NOT_ALLOWED");
            assertThat(read(api, acme + "/own.txt")).isEqualTo("PATH_NOT_ALLOWED");

            change(api, workspace, "[\"" + acme + "\"]");
            assertThat(read(api, note.toString(), bearer)).isEqualTo("PATH_NOT_ALLOWED");
            change(api, workspace, "[]");
            assertThat(read(api, acme + "/own.txt", bearer)).isEqualTo("PATH_NOT_ALLOWED");
            assertThat(change(api, workspace, "null").get("allowed_folders").isNull()).isTrue();
            assertThat(read(api, note.toString(), bearer)).isEqualTo("for all");
            assertThat(api.get("/api/v1/audit?workspace_id=" + workspace).json().at(
                    "/items/3/detail/allowed_folders/1").stringValue()).isEqualTo(base.toString());
        }
    }

    @Test
    void onlyOperatorsGiveFoldersAndOnlyAbsoluteOnes() throws Exception {
        try (ApiServer api = server(Map.of())) {
            String bearer = api.stranger();
            String workspace = api.get("/api/v1/whoami", "Authorization", bearer).json().at("/workspace/id")
                    .stringValue();
            String path = "/api/v1/workspaces/" + workspace;
            assertThat(patch(api, path, "[\"/srv\"]", bearer).status()).isEqualTo(403);
            for (String refused : List.of("[\"srv\"]", "[\"\"]", "\"/srv\"", "[7]")) {
                assertThat(patch(api, path, refused, "Bearer " + api.key()).status()).as(refused).isEqualTo(422);
            }
            ApiServer.Answer made = api.post("/api/v1/workspaces",
                    "{\"name\": \"made\", \"allowed_folders\": [\"" + base + "\"]}");
            assertThat(made.json().at("/allowed_folders/0").stringValue()).as(made.text()).isEqualTo(base.toString());
        }
    }

    private static JsonNode change(ApiServer api, String workspace, String folders) {
        ApiServer.Answer changed = patch(api, "/api/v1/workspaces/" + workspace, folders, "Bearer " + api.key());
        assertThat(changed.status()).as(changed.text()).isEqualTo(200);
        return changed.json();
    }

    private static ApiServer.Answer patch(ApiServer api, String path, String folders, String bearer) {
        return api.send("PATCH", path, ("{\"allowed_folders\": " + folders + "}").getBytes(StandardCharsets.UTF_8),
                "Content-Type", "application/json", "Authorization", bearer);
    }

    @Test
    void aDataFolderThatExistsIsClosedToOthers() throws Exception {
        Path data = Files.createDirectory(base.resolve("data"));
        Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxr-xr-x"));
        try (ApiServer api = server(Map.of())) {
            assertThat(api.get("/healthz").status()).isEqualTo(200);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(data))).isEqualTo("rwx------");
        }
    }

    private ApiServer server(Map<String, String> settings) throws Exception {
        return new ApiServer(base.resolve("data"), TestDatabase.createUrl(), settings);
    }

    /** What a run of the first workspace read there, or the code of the error that it ended with. */
    private static String read(ApiServer api, String path) {
        return read(api, path, "Bearer " + api.key());
    }

    private static String read(ApiServer api, String path, String bearer) {
        String mission = """
                {"name": "read", "start": true, "plan": {"tasks": [{"id": "one", "steps": [
                  {"name": "read", "tool": "files.read", "input": {"path": "%s"}}]}]},
                 "output": "${ .tasks.one.output.content }"}""".formatted(path);
        ApiServer.Answer created = api.post("/api/v1/runs", mission, "Authorization", bearer);
        assertThat(created.status()).as(created.text()).isEqualTo(201);
        String run = created.json().get("id").stringValue();
        Awaitility.await().until(() -> List.of("completed", "failed")
                .contains(run(api, run, bearer).get("state").stringValue()));
        JsonNode ended = run(api, run, bearer);
        return ended.get(ended.get("state").stringValue().equals("completed") ? "output" : "error_code").stringValue();
    }

    private static JsonNode run(ApiServer api, String run, String bearer) {
        return api.get("/api/v1/runs/" + run, "Authorization", bearer).json();
    }
}
