package io.keelson.client.worker;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Access of one execution of a step to models, through the server. Providers' clients take an address and the token as
 * their key. Requests are refused once the lease is lost or the step has ended. The text form shows no token.
 *
 * @param server base address of the server
 * @param token of the lease; no API key, and not to be written to logs
 */
public record Gateway(URI server, String token) {

    private static final String ON = "1";

    /** Base address for clients of OpenAI's API, such as {@code http://127.0.0.1:7331/gateway/openai/v1}. */
    public String openai() {
        return server + "/gateway/openai/v1";
    }

    /** Base address for clients of Anthropic's API; the path after it may begin with {@code /v1} or not. */
    public String anthropic() {
        return server + "/gateway/anthropic";
    }

    /**
     * Variables by which providers' libraries and coding agents find the gateway in a program that the handler starts. Switches off
     * what would send the token to a provider's own services.
     */
    public Map<String, String> environment() {
        Map<String, String> variables = new LinkedHashMap<>();
        variables.put("OPENAI_BASE_URL", openai());
        variables.put("OPENAI_API_KEY", token);
        variables.put("ANTHROPIC_BASE_URL", anthropic());
        variables.put("ANTHROPIC_API_KEY", token);
        variables.put("ANTHROPIC_AUTH_TOKEN", token);
        variables.put("KEELSON_STEP_TOKEN", token);
        variables.put("OPENAI_AGENTS_DISABLE_TRACING", ON);
        variables.put("DISABLE_TELEMETRY", ON);
        variables.put("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", ON);
        return variables;
    }

    @Override
    public String toString() {
        return "Gateway[server=" + server + "]";
    }
}
