package io.keelson.server.annex.mcp.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.keelson.server.annex.mcp.FakeMcpServer;
import io.keelson.server.annex.mcp.TokenEndpoint;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.outbound.OutboundClient;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tokens by client credentials: from a real endpoint, for a server that wants them. */
class AccessTokensTest {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final OutboundClient outbound = new OutboundClient(true);
    private final AtomicLong nanos = new AtomicLong();
    private TokenEndpoint endpoint;
    private FakeMcpServer server;

    @BeforeEach
    void start() throws Exception {
        endpoint = new TokenEndpoint("a client:", "s3cret & more");
        server = new FakeMcpServer("{}");
        server.wanted = "Bearer " + TokenEndpoint.token(1);
    }

    @AfterEach
    void stop() {
        endpoint.close();
        server.close();
        outbound.close();
    }

    private McpClient client(String secret) throws McpException, InterruptedException {
        AccessTokens tokens = new AccessTokens(outbound,
                new AccessTokens.Client(endpoint.url(), "a client:", secret, server.url(), "read write"), nanos::get);
        return McpClient.ofUrl(outbound, server.url(), Map.of(), tokens, "1", LIMIT);
    }

    @Test
    void tokenIsFetchedOnceForItsTime() throws Exception {
        try (McpClient client = client("s3cret & more")) {
            client.tools(LIMIT);
            client.tools(LIMIT);
            assertThat(endpoint.requests).containsExactly(Map.of("grant_type", "client_credentials", "scope",
                    "read write", "resource", server.url()));
            nanos.addAndGet(Duration.ofSeconds(3600 - 31).toNanos());
            client.tools(LIMIT);
            assertThat(endpoint.requests).hasSize(1);
            nanos.addAndGet(Duration.ofSeconds(2).toNanos());
            server.wanted = "Bearer " + TokenEndpoint.token(2);
            client.tools(LIMIT);
            assertThat(endpoint.requests).as("shortly before it expires").hasSize(2);
        }
    }

    @Test
    void refusedTokenIsReplacedOnce() throws Exception {
        try (McpClient client = client("s3cret & more")) {
            server.wanted = "Bearer " + TokenEndpoint.token(2);
            assertThat(client.tools(LIMIT)).isNotEmpty();
            assertThat(endpoint.requests).hasSize(2);
            server.wanted = "Bearer none";
            int before = server.requests.size();
            McpException refused = catchThrowableOfType(McpException.class, () -> client.call(
                    new McpClient.ToolRequest("add", Json.object(), Json.object(), Json.object(), null, null), LIMIT));
            assertThat(refused.code()).isEqualTo("MCP_AUTH_REFUSED");
            assertThat(refused.outcome()).isEqualTo(McpException.Outcome.NOT_SENT);
            assertThat(server.requests).hasSize(before + 2);
            assertThat(endpoint.requests).hasSize(3);
        }
    }

    @Test
    void errorOfTheServerIsNoRefusedToken() throws Exception {
        try (McpClient client = client("s3cret & more")) {
            server.error = 401;
            McpException refused = catchThrowableOfType(McpException.class, () -> client.call(
                    new McpClient.ToolRequest("add", Json.object(), Json.object(), Json.object(), null, null), LIMIT));
            assertThat(refused.outcome()).isEqualTo(McpException.Outcome.REFUSED);
            assertThat(server.calls("add")).hasSize(1);
        }
    }

    @Test
    void refusedClientIsAPermanentErrorAndTheServerIsNotAsked() {
        McpException refused = catchThrowableOfType(McpException.class, () -> client("wrong"));
        assertThat(refused.code()).isEqualTo("MCP_AUTH_REFUSED");
        assertThat(refused.permanent()).isTrue();
        assertThat(refused).hasMessageContaining("the token endpoint answered 401 invalid_client");
        assertThat(server.requests).isEmpty();
    }
}
