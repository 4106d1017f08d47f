package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.http.ApiServer.Answer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The autonomy level that an operator sets for the missions of a workspace that name none. */
class DefaultAutonomyApiTest {
    private static final String API = "/api/v1";
    private static final String PLAN =
            "\"plan\": {\"tasks\": [{\"id\": \"a\", \"estimated_cost\": 1, \"steps\": [{\"tool\": \"noop\"}]}]}";

    private static ApiServer api;

    @TempDir
    private static Path folder;

    @BeforeAll
    static void start() throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    private static String workspace(String bearer) {
        return api.get(API + "/whoami", "Authorization", bearer).json().at("/workspace/id").stringValue();
    }

    /** The bearer of a new workspace with that default. */
    private static String workspaceWith(String level) {
        String bearer = api.stranger();
        assertThat(setDefault(workspace(bearer), "\"" + level + "\"").path("default_autonomy").asString())
                .isEqualTo(level);
        return bearer;
    }

    @ParameterizedTest(name = "{0}, {1}")
    @CsvSource(delimiter = '|', value = {
            "approve    |                                                               | approve workspace person | awaiting_approval",
            "autonomous |                                                               | autonomous workspace person | awaiting_approval",
            "autonomous | \"config\": {\"autonomy\": {\"auto_approve_threshold\": 1}}, | autonomous workspace none | completed",
            "full_auto  |                                                               | full_auto workspace none | completed",
            "approve    | \"config\": {\"autonomy\": {\"level\": \"full_auto\"}},       | full_auto mission none | completed",
            "full_auto  | \"config\": {\"autonomy\": {\"level\": \"approve\"}},         | approve mission person | awaiting_approval"})
    void planIsApprovedAsTheMissionOrElseTheWorkspaceSays(String level, String config, String shown, String state) {
        String bearer = workspaceWith(level);
        String mission = "{\"name\": \"n\", \"start\": true, " + (config == null ? "" : config) + PLAN + "}";

        JsonNode valid = api.post(API + "/missions/validate", mission, "Authorization", bearer).json().path("autonomy");
        assertThat(valid.path("level").asString() + " " + valid.path("source").asString() + " "
                + valid.path("plan_approval").asString()).isEqualTo(shown);
        Answer run = api.post(API + "/runs", mission, "Authorization", bearer);
        assertThat(run.status()).as(run.text()).isEqualTo(201);
        String at = API + "/runs/" + run.json().get("id").stringValue();
        Awaitility.await().pollInterval(Duration.ofMillis(20))
                .untilAsserted(() -> assertThat(api.get(at, "Authorization", bearer).json().path("state").asString())
                        .isEqualTo(state));
        assertThat(api.get(at, "Authorization", bearer).json().at("/config/autonomy/level").asString())
                .isEqualTo(shown.substring(0, shown.indexOf(' ')));
    }

    @Test
    void goalsAndTemplatesHaveTheLevelToo() {
        String bearer = workspaceWith("full_auto");
        api.post(API + "/recipes", "{\"name\": \"t\", \"kind\": \"k\", " + PLAN + "}", "Authorization", bearer);
        for (String mission : new String[] {"{\"goal\": \"g\"}", "{\"goal\": \"g\", \"kind\": \"k\"}"}) {
            assertThat(approval(mission, bearer)).isEqualTo("full_auto workspace none");
        }
        String other = workspaceWith("autonomous");
        assertThat(approval("{\"goal\": \"g\"}", other)).isEqualTo("autonomous workspace above_threshold");
        String none = api.stranger();
        api.post(API + "/recipes", "{\"name\": \"t\", \"kind\": \"k\", " + PLAN + "}", "Authorization", none);
        assertThat(approval("{\"goal\": \"g\", \"kind\": \"k\"}", none)).isEqualTo("approve product person");
        assertThat(approval("{\"goal\": \"g\"}", none)).isEqualTo("approve product person");
        assertThat(approval("{\"name\": \"n\", " + PLAN + "}", none)).isEqualTo("autonomous product none");
    }

    private static String approval(String mission, String bearer) {
        JsonNode valid = api.post(API + "/missions/validate", mission, "Authorization", bearer).json().path("autonomy");
        return valid.path("level").asString() + " " + valid.path("source").asString() + " "
                + valid.path("plan_approval").asString();
    }

    private static JsonNode setDefault(String workspace, String level) {
        return api.send("PATCH", API + "/workspaces/" + workspace,
                ("{\"default_autonomy\": " + level + "}").getBytes(StandardCharsets.UTF_8), "Content-Type",
                "application/json").json();
    }

    @Test
    void auditLogHasEachChange() {
        String workspace = workspace(workspaceWith("approve"));
        assertThat(setDefault(workspace, "null").path("default_autonomy").isNull()).isTrue();
        assertThat(api.get(API + "/workspaces/" + workspace).json().path("default_autonomy").isNull()).isTrue();
        assertThat(api.get(API + "/audit?workspace_id=" + workspace).text())
                .contains("\"default_autonomy\":\"approve\"", "\"default_autonomy\":null");
    }
}
