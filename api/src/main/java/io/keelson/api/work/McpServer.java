package io.keelson.api.work;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Shape.OneOf;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A server of the Model Context Protocol that a workspace uses.
 *
 * @param name name in {@code mcp.NAME.TOOL}
 * @param url address of a server behind HTTP; null for a local program
 * @param bearer as it was given
 * @param auth as it was given
 * @param command name of a command in the operator's file; null for a server behind HTTP
 * @param trusted whether the annotations of its tools count
 * @param timeoutSeconds timeout of a call, in seconds
 * @param headers as they were given
 * @param effects effects by the name of the tool
 * @param allowed the tools that may be used; {@code *} for all
 * @param protocol revision of the protocol that it was last found to speak
 * @param checkedAt time of the last read of its tools
 * @param error of that read; null without one
 * @param updatedAt time of its last change
 * @param updatedBy name of the principal that changed it last
 * @param warnings names in {@code allowed} and {@code effects} that the server does not have, or that are not checked
 *     yet, as sentences
 * @param tools tools of the server
 * @param log the last lines of its standard error on the node that answers; not in lists
 */
public record McpServer(String name, @Nullable String url, @Nullable String bearer, @Nullable Auth auth,
        @Nullable String command, boolean trusted, int timeoutSeconds, Map<String, String> headers,
        Map<String, String> effects, List<String> allowed, @Nullable String protocol, @Nullable Instant checkedAt,
        @Nullable String error, Instant updatedAt, String updatedBy, List<String> warnings, List<Tool> tools,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<String> log) {

    /**
     * As it was given.
     *
     * @param type kind of authorization
     * @param tokenUrl address of the token endpoint
     * @param clientId id of the client
     * @param clientSecret expression that opens the secret
     * @param scope requested scope; null if absent
     */
    public record Auth(@OneOf("client_credentials") String type, String tokenUrl, String clientId,
            String clientSecret, @Nullable String scope) {}

    /**
     * A tool of the server.
     *
     * @param name without the prefix {@code mcp.SERVER.}
     * @param state {@code off}: not allowed. {@code changed}: the server describes it otherwise than accepted, and it is
     *     not called. {@code gone}: the server has it no more
     * @param effects effects of the tool
     * @param accepted its description as it is used
     * @param seen its description as the server last gave it
     */
    public record Tool(String name, @OneOf({"allowed", "off", "changed", "gone"}) String state, String effects,
            @Nullable ObjectNode accepted, @Nullable ObjectNode seen) {}
}
