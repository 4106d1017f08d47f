package io.keelson.client.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.Test;

class GatewayTest {

    private static final Gateway GATEWAY = new Gateway(URI.create("https://keelson.example"), "klg_secret");

    @Test
    void addressesAreBelowThoseOfTheServer() {
        assertThat(GATEWAY.openai()).isEqualTo("https://keelson.example/gateway/openai/v1");
        assertThat(GATEWAY.anthropic()).isEqualTo("https://keelson.example/gateway/anthropic");
        assertThat(GATEWAY.mcp()).isEqualTo("https://keelson.example/gateway/mcp");
        assertThat(GATEWAY.environment()).containsEntry("KEELSON_MCP_URL", GATEWAY.mcp())
                .containsEntry("OPENAI_BASE_URL", GATEWAY.openai())
                .containsEntry("ANTHROPIC_API_KEY", "klg_secret").containsEntry("DISABLE_TELEMETRY", "1");
    }

    @Test
    void textFormShowsNoToken() {
        assertThat(GATEWAY).hasToString("Gateway[server=https://keelson.example]");
    }

    @Test
    void toolIsAnnouncedWithItsAccess() {
        ToolSpec plain = new ToolSpec("research", null, null, null);

        assertThat(plain.announced().gateway()).isNull();
        assertThat(plain.withGateway().announced().gateway()).hasToString("true");
        assertThat(plain.withGateway(List.of("small")).announced().gateway()).hasToString("{\"models\":[\"small\"]}");
    }
}
