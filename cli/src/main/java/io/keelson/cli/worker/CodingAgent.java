package io.keelson.cli.worker;

import io.keelson.client.Json;
import io.keelson.client.worker.Gateway;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Coding agents that find a model's address and the tools of the step in files of their own. The files are in the folder of the step, and
 * name the variable of the token instead of the token.
 */
enum CodingAgent {
    /**
     * Ignores {@code OPENAI_BASE_URL}; wants a provider in {@code config.toml}. Offers a search that the provider executes, which the
     * gateway refuses, unless that is switched off.
     */
    CODEX {
        @Override
        void configure(StepFolder folder, Gateway gateway) throws IOException {
            write(folder.home().resolve(".codex/config.toml"), """
                    model_provider = "keelson"
                    web_search = "disabled"

                    [model_providers.keelson]
                    name = "Keelson"
                    base_url = "%s"
                    env_key = "OPENAI_API_KEY"
                    wire_api = "responses"

                    [mcp_servers.keelson]
                    url = "%s"
                    bearer_token_env_var = "KEELSON_STEP_TOKEN"
                    """.formatted(gateway.openai(), gateway.mcp()));
        }
    },
    /** Wants a provider with the names of its models. */
    OPENCODE {
        @Override
        void configure(StepFolder folder, Gateway gateway) throws IOException, InterruptedException {
            ObjectNode document = Json.object().put("$schema", "https://opencode.ai/config.json");
            ObjectNode provider = document.putObject("provider").putObject("keelson").put("npm",
                    "@ai-sdk/openai-compatible").put("name", "Keelson");
            provider.putObject("options").put("baseURL", gateway.openai()).put("apiKey", "{env:OPENAI_API_KEY}");
            ObjectNode models = provider.putObject("models");
            List<String> names = models(gateway);
            names.forEach(models::putObject);
            if (!names.isEmpty()) {
                document.put("model", "keelson/" + names.getFirst());
            }
            document.putObject("mcp").putObject("keelson").put("type", "remote").put("url", gateway.mcp())
                    .put("oauth", false).putObject("headers").put("Authorization", "Bearer {env:KEELSON_STEP_TOKEN}");
            write(folder.work().resolve("opencode.json"), document.toPrettyString());
        }
    },
    /** Finds its models by variables; the file skips the questions of a first start, and names the tools. */
    CLAUDE {
        @Override
        void configure(StepFolder folder, Gateway gateway) throws IOException {
            Path file = folder.home().resolve(".claude.json");
            if (!Files.exists(file)) {
                ObjectNode document = Json.object().put("hasCompletedOnboarding", true);
                document.putObject("mcpServers").putObject("keelson").put("type", "http").put("url", gateway.mcp())
                        .putObject("headers").put("Authorization", "Bearer ${KEELSON_STEP_TOKEN}");
                write(file, document.toString());
            }
        }
    };

    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    /** Writes the configuration for one execution of a step. */
    abstract void configure(StepFolder folder, Gateway gateway) throws IOException, InterruptedException;

    private static void write(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    /** The names of the models that the step may use. */
    private static List<String> models(Gateway gateway) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(gateway.openai() + "/models")).timeout(TIMEOUT)
                .header("Authorization", "Bearer " + gateway.token()).build();
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
            JsonNode list = JsonMapper.shared().readTree(answer.body());
            return list.path("data").valueStream().map(model -> model.path("id").asString("")).toList();
        } catch (JacksonException e) {
            throw new IOException("the gateway's list of models is not JSON", e);
        }
    }
}
