package io.keelson.cli.worker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.keelson.client.worker.Gateway;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class CodingAgentTest {

    private static final Gateway GATEWAY = new Gateway(URI.create("http://keelson:7331"), "klg_secret");

    @TempDir
    private Path path;

    private StepFolder folder() throws Exception {
        StepFolder folder = new StepFolder(path, false);
        Files.createDirectories(folder.work());
        Files.createDirectories(folder.home());
        return folder;
    }

    @Test
    void codexFindsTheGatewayInItsHomeWithoutTheToken() throws Exception {
        StepFolder folder = folder();

        CodingAgent.CODEX.configure(folder, GATEWAY);

        assertThat(Files.readString(folder.home().resolve(".codex/config.toml")))
                .contains("model_provider = \"keelson\"", "web_search = \"disabled\"",
                        "base_url = \"http://keelson:7331/gateway/openai/v1\"",
                        "env_key = \"OPENAI_API_KEY\"", "wire_api = \"responses\"", "[mcp_servers.keelson]",
                        "url = \"http://keelson:7331/gateway/mcp\"", "bearer_token_env_var = \"KEELSON_STEP_TOKEN\"")
                .doesNotContain("klg_secret");
    }

    @Test
    void opencodeHasTheModelsOfTheStep() throws Exception {
        StepFolder folder = folder();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/gateway/openai/v1/models", exchange -> {
            boolean known = "Bearer klg_secret".equals(exchange.getRequestHeaders().getFirst("Authorization"));
            byte[] answer = (known ? "{\"data\": [{\"id\": \"small\"}]}" : "{}").getBytes(UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        try {
            CodingAgent.OPENCODE.configure(folder,
                    new Gateway(URI.create("http://127.0.0.1:" + server.getAddress().getPort()), "klg_secret"));
        } finally {
            server.stop(0);
        }

        String text = Files.readString(folder.work().resolve("opencode.json"));
        JsonNode document = JsonMapper.shared().readTree(text);
        assertThat(document.path("model").asString("")).isEqualTo("keelson/small");
        assertThat(document.at("/provider/keelson/models").has("small")).isTrue();
        assertThat(document.at("/provider/keelson/options/apiKey").asString("")).isEqualTo("{env:OPENAI_API_KEY}");
        assertThat(document.at("/mcp/keelson/url").asString("")).endsWith("/gateway/mcp");
        assertThat(document.at("/mcp/keelson/headers/Authorization").asString(""))
                .isEqualTo("Bearer {env:KEELSON_STEP_TOKEN}");
        assertThat(text).doesNotContain("klg_secret");
    }

    @Test
    void claudeKeepsTheFileOfAnEarlierExecution() throws Exception {
        StepFolder folder = folder();

        CodingAgent.CLAUDE.configure(folder, GATEWAY);
        Path file = folder.home().resolve(".claude.json");
        assertThat(Files.readString(file)).isEqualTo("{\"hasCompletedOnboarding\":true,\"mcpServers\":{\"keelson\":"
                + "{\"type\":\"http\",\"url\":\"http://keelson:7331/gateway/mcp\",\"headers\":"
                + "{\"Authorization\":\"Bearer ${KEELSON_STEP_TOKEN}\"}}}}");
        Files.writeString(file, "{}");
        CodingAgent.CLAUDE.configure(folder, GATEWAY);

        assertThat(Files.readString(file)).isEqualTo("{}");
    }
}
