package io.keelson.server.annex.mcp;

import io.keelson.api.work.McpServer;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.policy.Effects;
import io.keelson.server.annex.mcp.McpDefinition.ClientCredentials;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.ListPage;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Scope;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The MCP servers of a workspace, and the accepted descriptions of their tools. */
final class McpActions {
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9_-]{0,63}");

    private final McpService mcp;

    McpActions(McpService mcp) {
        this.mcp = mcp;
    }

    void addTo(Route.Table table) {
        table.get(Scope.ADMIN, "/mcp-servers", this::list);
        table.get(Scope.ADMIN, "/mcp-servers/{name}", this::one);
        table.put(Scope.ADMIN, "/mcp-servers/{name}", McpServer.Definition.class, this::set);
        table.delete(Scope.ADMIN, "/mcp-servers/{name}", this::remove);
        table.post(Scope.ADMIN, "/mcp-servers/{name}/check", this::check);
        table.post(Scope.ADMIN, "/mcp-servers/{name}/tools/{tool}/accept", this::accept);
    }

    private ApiResponse list(ApiRequest request) {
        ListPage page = new ListPage(request, "mcp-servers");
        List<ObjectNode> shown = mcp.store().servers(request.workspace()).stream().map(this::document).toList();
        return page.of(shown);
    }

    private ApiResponse one(ApiRequest request) {
        return ApiResponse.resource(shown(request, name(request)));
    }

    private ObjectNode shown(ApiRequest request, String name) {
        ObjectNode document =
                document(mcp.store().server(request.workspace(), name).orElseThrow(() -> notFound(name)));
        document.set("log", Json.strings(mcp.log(request.workspace(), name)));
        return document;
    }

    private ApiResponse set(ApiRequest request, McpServer.Definition body) throws InterruptedException {
        String name = name(request);
        if (body.command() != null && !request.has(Scope.OPERATOR)) {
            throw ApiProblem.of(ErrorCode.SCOPE_MISSING,
                    "a server that is started by a command needs a key with the scope operator");
        }
        McpDefinition definition = definition(body);
        requireKnownTools(request.workspace(), name, definition);
        if (!mcp.store().put(request.workspace(), name, definition, request.origin())) {
            throw ApiProblem.of(ErrorCode.MCP_SERVERS_LIMIT_REACHED,
                    "a workspace has at most " + McpStore.MAX_SERVERS + " MCP servers");
        }
        mcp.changed(request.workspace(), name);
        return ApiResponse.ok(shown(request, name));
    }

    /** Refuses new names of tools that the server does not have. Reads its tools again before, for it may have new ones. */
    private void requireKnownTools(UUID workspace, String name, McpDefinition wanted) throws InterruptedException {
        if (unknown(workspace, name, wanted).isEmpty()) {
            return;
        }
        mcp.check(workspace, name);
        List<PlanProblem> problems = unknown(workspace, name, wanted);
        if (!problems.isEmpty()) {
            throw ApiProblem.of(problems);
        }
    }

    /** None for a server whose tools were never read. */
    private List<PlanProblem> unknown(UUID workspace, String name, McpDefinition wanted) {
        return mcp.store().server(workspace, name).map(this::names)
                .filter(names -> names.read() && names.same(wanted))
                .map(names -> names.unknownIn(wanted).entrySet().stream()
                        .map(each -> new PlanProblem("UNKNOWN_TOOL", each.getKey(), names.message(each.getValue())))
                        .toList())
                .orElse(List.of());
    }

    private McpNames names(McpServerRow server) {
        return McpNames.of(server, mcp.store().tools(server.workspaceId(), server.name()));
    }

    private McpDefinition definition(McpServer.Definition body) {
        if ((body.url() == null) == (body.command() == null)) {
            throw ApiProblem.of("INVALID_VALUE", "", "an MCP server has a `url` or a `command`, and not both");
        }
        if (body.url() != null && !McpDefinition.understands(body.url())) {
            throw ApiProblem.of("INVALID_VALUE", "/url", "must be an http or https URL without user and password");
        }
        if (body.command() != null && mcp.commands().find(body.command()).isEmpty()) {
            throw ApiProblem.of("INVALID_VALUE", "/command", mcp.commands().missing(body.command()));
        }
        if (body.command() != null && (body.bearer() != null || body.auth() != null || !body.headers().isEmpty())) {
            throw ApiProblem.of("INVALID_VALUE", "", "only a server with a `url` has `headers`, a `bearer` or `auth`");
        }
        if (body.bearer() != null && body.auth() != null) {
            throw ApiProblem.of("INVALID_VALUE", "/auth", "a server has a `bearer` or `auth`, and not both");
        }
        body.headers().forEach((header, value) -> noOther(value, "/headers/" + header.replace("/", "~1")));
        noOther(body.bearer() == null ? "" : body.bearer(), "/bearer");
        Map<String, Effects> effects = new TreeMap<>();
        body.effects().forEach((tool, mark) -> effects.put(tool, Effects.valueOf(mark.toUpperCase(Locale.ROOT))));
        return new McpDefinition(body.url(), body.headers(), body.bearer(), credentials(body.auth()), body.command(),
                body.trusted(), body.tools(), effects, Duration.ofSeconds(body.timeoutSeconds()));
    }

    private static @Nullable ClientCredentials credentials(McpServer.@Nullable NewAuth auth) {
        if (auth == null) {
            return null;
        }
        if (!McpDefinition.understands(auth.tokenUrl())) {
            throw ApiProblem.of("INVALID_VALUE", "/auth/token_url",
                    "must be an http or https URL without user and password");
        }
        if (!McpSecrets.isSecret(auth.clientSecret())) {
            throw ApiProblem.of("INVALID_VALUE", "/auth/client_secret", "must be ${ secret(\"NAME\") }");
        }
        return new ClientCredentials(auth.tokenUrl(), auth.clientId(), auth.clientSecret(), auth.scope());
    }

    private static void noOther(String text, String pointer) {
        if (McpSecrets.hasOtherExpression(text)) {
            throw ApiProblem.of("INVALID_VALUE", pointer, "the only expression here is ${ secret(\"NAME\") }");
        }
    }

    private ApiResponse remove(ApiRequest request) throws InterruptedException {
        String name = name(request);
        if (!mcp.store().remove(request.workspace(), name, request.origin())) {
            throw notFound(name);
        }
        mcp.changed(request.workspace(), name);
        return ApiResponse.empty(204);
    }

    private ApiResponse check(ApiRequest request) throws InterruptedException {
        String name = name(request);
        if (!mcp.check(request.workspace(), name)) {
            throw notFound(name);
        }
        return ApiResponse.ok(shown(request, name));
    }

    private ApiResponse accept(ApiRequest request) throws InterruptedException {
        String name = name(request);
        String tool = request.pathText("tool");
        ObjectNode before = shown(request, name);
        if (before.path("tools").valueStream().noneMatch(each -> each.path("name").asString().equals(tool))
                || !mcp.store().accept(request.workspace(), name, tool, request.origin())) {
            throw ApiProblem.of(ErrorCode.MCP_TOOL_NOT_FOUND, "the server '" + name + "' has no tool '"
                    + Excerpt.piece(tool) + "' that the workspace allows; `keelson mcp show " + name
                    + "` lists its tools, and `keelson mcp allow` allows one that is off");
        }
        mcp.accepted();
        return ApiResponse.ok(shown(request, name));
    }

    private static String name(ApiRequest request) {
        String name = request.pathText("name");
        if (!NAME.matcher(name).matches()) {
            throw ApiProblem.of(ErrorCode.INVALID_ID,
                    "'" + Excerpt.piece(name) + "' is not a valid name of an MCP server:"
                            + " at most 64 lower-case letters, digits, '_' and '-' after a letter or digit");
        }
        return name;
    }

    private static ApiProblem notFound(String name) {
        return ApiProblem.of(ErrorCode.MCP_SERVER_NOT_FOUND, "the workspace has no MCP server '" + name + "'");
    }

    private ObjectNode document(McpServerRow server) {
        McpDefinition definition = server.definition();
        List<McpToolRow> rows = mcp.store().tools(server.workspaceId(), server.name());
        Map<String, String> effects = new TreeMap<>();
        definition.effects().forEach((tool, mark) -> effects.put(tool, mark.wire()));
        return Json.document(new McpServer(server.name(), definition.url(), definition.bearer(),
                auth(definition.auth()), definition.command(), definition.trusted(),
                Math.toIntExact(definition.timeout().toSeconds()), new TreeMap<>(definition.headers()), effects,
                definition.tools(), server.spoken(), server.checkedAt(), server.error(), server.updatedAt(),
                server.updatedBy(), McpNames.of(server, rows).warnings(),
                rows.stream().map(tool -> tool(server, tool)).toList(), null));
    }

    private static McpServer.@Nullable Auth auth(@Nullable ClientCredentials auth) {
        return auth == null ? null
                : new McpServer.Auth(ClientCredentials.TYPE, auth.tokenUrl(), auth.clientId(),
                        auth.clientSecret(), auth.scope());
    }

    private static McpServer.Tool tool(McpServerRow server, McpToolRow tool) {
        return new McpServer.Tool(tool.name(), tool.state(), McpService.effects(server, tool).wire(),
                (ObjectNode) tool.accepted(), (ObjectNode) tool.seen());
    }
}
