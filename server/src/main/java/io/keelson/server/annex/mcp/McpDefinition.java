package io.keelson.server.annex.mcp;

import io.keelson.core.policy.Effects;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.outbound.OutboundClient;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * How a workspace uses a server. Headers and the bearer name secrets as {@code ${ secret("NAME") }}.
 *
 * @param url of a server behind HTTP; null for a command
 * @param headers sent with each request
 * @param bearer sent as {@code Authorization}; null if absent
 * @param auth how tokens are fetched that are sent as {@code Authorization}; null if absent
 * @param command the name of a command in the operator's file; null for a URL
 * @param trusted whether annotations of its tools count
 * @param tools those that may be used; {@code *} for all
 * @param effects of tools, in place of their annotations
 * @param timeout of a call
 */
record McpDefinition(@Nullable String url, Map<String, String> headers, @Nullable String bearer,
        @Nullable ClientCredentials auth, @Nullable String command, boolean trusted, List<String> tools,
        Map<String, Effects> effects, Duration timeout) {

    /**
     * OAuth client credentials.
     *
     * @param clientSecret names a secret as {@code ${ secret("NAME") }}
     * @param scope null for the default of the token endpoint
     */
    public record ClientCredentials(String tokenUrl, String clientId, String clientSecret, @Nullable String scope) {
        static final String TYPE = "client_credentials";

        private ObjectNode document() {
            return Json.object().put("type", TYPE).put("token_url", tokenUrl).put("client_id", clientId)
                    .put("client_secret", clientSecret).put("scope", scope);
        }

        private static @Nullable ClientCredentials of(JsonNode document) {
            return !document.isObject() ? null
                    : new ClientCredentials(document.path("token_url").asString(),
                            document.path("client_id").asString(), document.path("client_secret").asString(),
                            document.path("scope").stringValue(null));
        }
    }

    /** Allows all tools of a server. */
    public static final String ALL = "*";
    /** Default of {@link #timeout}, in seconds. */
    public static final int TIMEOUT_SECONDS = 30;

    public McpDefinition {
        headers = Map.copyOf(headers);
        tools = List.copyOf(tools);
        effects = Map.copyOf(effects);
    }

    /** Whether requests to it can be sent at all. */
    public static boolean understands(String url) {
        return OutboundClient.understands(url);
    }

    /** The address of the server: its URL, or the name of its command. */
    String place() {
        return url == null ? "command " + command : url;
    }

    /** Whether the tool of that name may be used. */
    public boolean allows(String tool) {
        return tools.contains(ALL) || tools.contains(tool);
    }

    /** As it is stored. */
    public ObjectNode document() {
        ObjectNode document = Json.object().put("url", url).put("bearer", bearer).put("command", command)
                .put("trusted", trusted).put("timeout_seconds", timeout.toSeconds());
        document.set("auth", auth == null ? document.nullNode() : auth.document());
        ObjectNode sent = document.putObject("headers");
        new TreeMap<>(headers).forEach(sent::put);
        document.set("tools", Json.strings(tools));
        ObjectNode marks = document.putObject("effects");
        new TreeMap<>(effects).forEach((tool, mark) -> marks.put(tool, mark.wire()));
        return document;
    }

    /** From {@link #document}. */
    static McpDefinition of(JsonNode document) {
        Map<String, String> headers = new TreeMap<>();
        document.path("headers").forEachEntry((name, value) -> headers.put(name, value.asString()));
        Map<String, Effects> effects = new TreeMap<>();
        document.path("effects").forEachEntry(
                (tool, mark) -> effects.put(tool, Effects.valueOf(mark.asString().toUpperCase(Locale.ROOT))));
        return new McpDefinition(document.path("url").stringValue(null), headers,
                document.path("bearer").stringValue(null), ClientCredentials.of(document.path("auth")),
                document.path("command").stringValue(null), document.path("trusted").asBoolean(false),
                document.path("tools").valueStream().map(JsonNode::asString).toList(), effects,
                Duration.ofSeconds(document.path("timeout_seconds").asLong(TIMEOUT_SECONDS)));
    }
}
