package io.keelson.api.worker;

import java.util.LinkedHashMap;
import java.util.Map;

/** Variables by which libraries of providers and coding agents find the gateway of a server instead of a provider. */
public final class GatewayVariables {

    private static final String ON = "1";

    private GatewayVariables() {}

    /** Base address for clients of OpenAI's API. */
    public static String openai(String server) {
        return server + "/gateway/openai/v1";
    }

    /** Base address for clients of Anthropic's API; the path after it may begin with {@code /v1} or not. */
    public static String anthropic(String server) {
        return server + "/gateway/anthropic";
    }

    /** Address of the step's tools over the Model Context Protocol. */
    public static String mcp(String server) {
        return server + "/gateway/mcp";
    }

    /**
     * The variables of a program. They also switch off what would send the token to a provider's own services.
     *
     * @param server base address, without a slash at its end
     * @param token of a lease
     */
    public static Map<String, String> of(String server, String token) {
        Map<String, String> variables = new LinkedHashMap<>();
        variables.put("OPENAI_BASE_URL", openai(server));
        variables.put("OPENAI_API_KEY", token);
        variables.put("ANTHROPIC_BASE_URL", anthropic(server));
        variables.put("ANTHROPIC_API_KEY", token);
        variables.put("ANTHROPIC_AUTH_TOKEN", token);
        variables.put("KEELSON_MCP_URL", mcp(server));
        variables.put("KEELSON_STEP_TOKEN", token);
        variables.put("OPENAI_AGENTS_DISABLE_TRACING", ON);
        variables.put("DISABLE_TELEMETRY", ON);
        variables.put("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", ON);
        return variables;
    }
}
