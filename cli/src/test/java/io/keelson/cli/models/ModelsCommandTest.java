package io.keelson.cli.models;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess;
import io.keelson.cli.InProcessCli;
import io.keelson.server.api.http.ApiServer;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The commands about models, and the commands for a workspace's models, tools and level of autonomy. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ModelsCommandTest {
    private ApiServer api;

    @TempDir
    private Path folder;

    @BeforeAll
    void start(@TempDir Path data) throws Exception {
        Files.writeString(data.resolve("provider.key"), "sk-canary-0987654321");
        Path file = Files.writeString(data.resolve("models.yaml"), """
                models:
                  small:
                    wire: openai-responses
                    base_url: https://api.example.com/v1
                    model: gpt-x-mini
                    family: openai
                    api_key: {file: provider.key}
                    headers: {X-Route: {file: provider.key}}
                    context_tokens: 400000
                    max_output_tokens: 16000
                    prices: {input: 0.25, cache_read: 0.025, output: 2}
                """);
        api = new ApiServer(Files.createDirectory(data.resolve("data")), TestDatabase.createUrl(),
                Map.of("KEELSON_MODELS", file.toString()));
    }

    @AfterAll
    void stop() {
        api.close();
    }

    private String workspace(String bearer) {
        return api.get("/api/v1/whoami", "Authorization", bearer).json().at("/workspace/id").stringValue();
    }

    private CliProcess.Result cli(String... arguments) {
        return as(api.key(), arguments);
    }

    private CliProcess.Result as(String key, String... arguments) {
        return InProcessCli.run(Map.of("KEELSON_URL", api.url().toString(), "KEELSON_API_KEY", key), arguments);
    }

    @Test
    void commandsShowModelsAndSetTheListOfAWorkspace() {
        assertThat(cli("models").out().lines()).element(1).asString().matches("small +yes +openai +400000 +16000 .*");
        assertThat(cli("models", "show", "small").out()).contains("gpt-x-mini, family openai",
                "openai-responses at https://api.example.com/v1", "cache read 0.025").doesNotContain("canary");
        CliProcess.Result unknown = cli("models", "show", "smal");
        assertThat(unknown.code()).isEqualTo(1);
        assertThat(unknown.err()).contains("MODEL_NOT_FOUND", "small");

        String workspace = workspace(api.stranger());
        assertThat(cli("workspaces", "models", workspace, "small", "other").out())
                .containsPattern("models +small {2}other");
        assertThat(cli("workspaces", "models", workspace, "--none").out()).containsPattern("models +none");
        assertThat(cli("workspaces", "models", workspace, "--all").out()).containsPattern("models +all");
        assertThat(cli("workspaces", "models", workspace, "small", "--all").code()).isEqualTo(2);
        assertThat(cli("workspaces", "tools", workspace, "--deny", "process.*").out())
                .containsPattern("tools +all, but not process");
        assertThat(cli("workspaces", "tools", workspace, "--all").out()).containsPattern("tools +all\n");
    }

    @Test
    void operatorsSetTheDefaultAutonomyThatValidateShows() throws Exception {
        String bearer = api.stranger();
        String key = bearer.substring("Bearer ".length());
        String workspace = workspace(bearer);
        Path mission = Files.writeString(folder.resolve("m.yaml"),
                "name: n\nplan: {tasks: [{id: a, steps: [{tool: noop}]}]}\n");

        assertThat(cli("workspaces", "autonomy", workspace, "approve").out())
                .contains("autonomy             approve by default");
        assertThat(as(key, "validate", mission.toString()).out())
                .contains("autonomy approve, the workspace's default: a person approves the plan");
        assertThat(as(key, "validate", mission.toString(), "--json").json().at("/autonomy/source").asString())
                .isEqualTo("workspace");
        assertThat(as(key, "workspaces", "autonomy", workspace, "full_auto").code()).as("not an operator").isNotZero();
        assertThat(cli("workspaces", "autonomy", workspace, "sometimes").err()).contains("default_autonomy");
        assertThat(cli("workspaces", "autonomy", workspace, "approve", "--none").code()).isEqualTo(2);
        assertThat(cli("workspaces", "autonomy", workspace, "--none").out())
                .containsPattern("autonomy +as missions say");
    }
}
