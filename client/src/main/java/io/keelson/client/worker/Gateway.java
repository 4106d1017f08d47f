package io.keelson.client.worker;

import io.keelson.api.worker.GatewayVariables;
import java.net.URI;
import java.util.Map;

/**
 * Access of one execution of a step to models and tools, through the server. Providers' clients take an address and the token as their key.
 * Requests are refused once the lease is lost or the step has ended. The text form shows no token.
 *
 * @param server base address of the server
 * @param token of the lease; no API key, and not to be written to logs
 */
public record Gateway(URI server, String token) {

    /** Base address for clients of OpenAI's API, such as {@code http://127.0.0.1:7331/gateway/openai/v1}. */
    public String openai() {
        return GatewayVariables.openai(server.toString());
    }

    /** Base address for clients of Anthropic's API; the path after it may begin with {@code /v1} or not. */
    public String anthropic() {
        return GatewayVariables.anthropic(server.toString());
    }

    /** Address of the step's tools over the Model Context Protocol, with the token as bearer. */
    public String mcp() {
        return GatewayVariables.mcp(server.toString());
    }

    /**
     * Variables by which providers' libraries and coding agents find the gateway in a program that the handler starts. Switches off
     * what would send the token to a provider's own services.
     */
    public Map<String, String> environment() {
        return GatewayVariables.of(server.toString(), token);
    }

    @Override
    public String toString() {
        return "Gateway[server=" + server + "]";
    }
}
