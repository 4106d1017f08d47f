package io.keelson.api.work;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Size;
import io.keelson.api.Shape.Text;
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

    /**
     * Creates or replaces an MCP server. It has either an address or a command.
     *
     * @param url address of a server behind HTTP
     * @param headers sent with each request; {@code ${ secret("NAME") }} is a secret of the workspace
     * @param bearer sent as {@code Authorization: Bearer …}; best a {@code ${ secret("NAME") }}
     * @param auth OAuth client credentials, for tokens that are sent as {@code Authorization: Bearer …}: kept until they expire, and
     *     fetched again after an answer 401
     * @param command name of a command in the file of KEELSON_MCP_SERVERS
     * @param trusted whether annotations of its tools count
     * @param tools the tools that may be used; {@code *} for all
     * @param effects effects of tools, instead of their annotations
     * @param timeoutSeconds of a call by an agent
     */
    @Request
    public record Definition(@Nullable @Text(min = 1, max = 2048) String url,
            @Default("{}") @Size(max = 50) Map<@Text(pattern = "^[A-Za-z0-9-]{1,100}$") String,
                    @Text(max = 8192) String> headers,
            @Nullable @Text(min = 1, max = 8192) String bearer, @Nullable NewAuth auth,
            @Nullable @Text(min = 1, max = 64) String command, @Default("false") boolean trusted,
            @Default("[]") @Size(max = 256) List<@Text(min = 1, max = 128) String> tools,
            @Default("{}") @Size(max = 256) Map<String,
                    @OneOf({"read", "idempotent", "once", "destructive"}) String> effects,
            @Default("30") @Range(min = 1, max = 3600) int timeoutSeconds) {}

    /**
     * OAuth client credentials.
     *
     * @param type kind of authorization
     * @param tokenUrl address of the token endpoint
     * @param clientId id of the client
     * @param clientSecret a {@code ${ secret("NAME") }} of the workspace
     * @param scope requested scope; the default of the token endpoint if absent
     */
    @Request
    public record NewAuth(@OneOf("client_credentials") String type, @Text(min = 1, max = 2048) String tokenUrl,
            @Text(min = 1, max = 1000) String clientId, @Text(min = 1, max = 200) String clientSecret,
            @Nullable @Text(min = 1, max = 1000) String scope) {}
}
