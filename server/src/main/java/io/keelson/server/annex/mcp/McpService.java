package io.keelson.server.annex.mcp;

import io.keelson.core.policy.Effects;
import io.keelson.server.annex.mcp.wire.McpException;
import io.keelson.server.annex.mcp.wire.ParameterHeaders;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.SafeText;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.engine.store.queue.CallWaits;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.engine.tool.WorkspaceTools;
import io.keelson.server.tenant.audit.AuditOrigin;
import io.keelson.server.tenant.secret.SecretStore;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The servers of all workspaces, their tools, and this node's connections to them. Thread-safe. */
final class McpService implements WorkspaceTools, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(McpService.class);
    private static final Pattern TOOL = Pattern.compile("[A-Za-z0-9_.-]{1,128}");
    private static final Pattern NAMED = Pattern.compile("mcp\\.([a-z0-9_-]{1,64})\\.([A-Za-z0-9_.-]{1,128})");
    private static final int MAX_TITLE = 256;
    private static final int MAX_DESCRIPTION = 4_096;
    private static final int MAX_ANNOTATIONS = 4_096;
    private static final int MAX_SCHEMA = 65_536;
    private static final Duration LIST_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration CANCEL_TIMEOUT = Duration.ofSeconds(5);
    /** After this time the tools of a server are read again before a call. */
    private static final Duration LISTED_FOR = Duration.ofSeconds(60);
    private static final Duration UPKEEP = Duration.ofSeconds(2);

    /** A server's name within its workspace. */
    private record Key(UUID workspace, String server) {}

    /** This node's copy of the tables. */
    private record Known(Map<Key, McpServerRow> servers, Map<Key, Map<String, McpToolRow>> tools,
            Map<UUID, ToolCatalog> catalogues, List<String> names, String fingerprint) {}

    private static final Known NOTHING = new Known(Map.of(), Map.of(), Map.of(), List.of(), "");

    private final Database database;
    private final McpStore store;
    private final McpConnections connections;
    private final McpCommands commands;
    private final LongSupplier nanos;
    private final Map<Key, Long> listedAt = new ConcurrentHashMap<>();
    private final BackgroundTask upkeep = BackgroundTask.every("mcp-upkeep", UPKEEP, this::upkeep);
    private volatile Known known = NOTHING;
    private volatile Runnable changed = () -> {};

    /**
     * @param folder where processes start
     * @param version of this server, which it gives to others
     * @param nanos a monotonic clock, in nanoseconds
     */
    public McpService(Database database, McpCommands commands, OutboundClient outbound, SecretStore secrets,
            Path folder, String version, LongSupplier nanos) {
        this.database = database;
        this.store = new McpStore(database);
        this.commands = commands;
        this.connections = new McpConnections(commands, outbound, secrets, folder, version, nanos);
        this.nanos = nanos;
    }

    /** @param notify other nodes, after a change of servers or tools */
    public void start(Runnable notify) {
        changed = notify;
        upkeep.start();
    }

    public McpStore store() {
        return store;
    }

    public McpCommands commands() {
        return commands;
    }

    /** Reads again what the database says of servers and tools. */
    public void refresh() {
        store.<@Nullable Object>ofAllWorkspaces(c -> {
            refresh(c);
            return null;
        });
    }

    @Override
    public synchronized void refresh(Connection c) throws SQLException {
        String fingerprint = store.fingerprint(c);
        if (fingerprint.equals(known.fingerprint)) {
            return;
        }
        McpStore.Everything all = store.everything(c);
        Map<Key, McpServerRow> servers = new HashMap<>();
        all.servers().forEach(row -> servers.put(new Key(row.workspaceId(), row.name()), row));
        Map<Key, Map<String, McpToolRow>> tools = new HashMap<>();
        all.tools().forEach(row -> tools.computeIfAbsent(new Key(row.workspaceId(), row.server()),
                key -> new TreeMap<>()).put(row.name(), row));
        Map<UUID, List<Tool>> usable = new HashMap<>();
        servers.forEach((key, row) -> tools.getOrDefault(key, Map.of()).values().forEach(tool -> {
            if (tool.accepted() != null) {
                usable.computeIfAbsent(key.workspace, ignored -> new ArrayList<>())
                        .add(new McpTool(this, row, tool.name(), tool.accepted()));
            }
        }));
        Map<UUID, ToolCatalog> catalogues = usable.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, each -> new ToolCatalog(each.getValue())));
        List<String> names = catalogues.values().stream().flatMap(each -> each.all().stream())
                .map(tool -> tool.spec().name()).distinct().sorted().toList();
        known.servers.keySet().stream().filter(key -> !servers.containsKey(key))
                .forEach(this::forget);
        known = new Known(servers, tools, catalogues, names, fingerprint);
    }

    private void forget(Key key) {
        connections.forget(key.workspace, key.server);
        listedAt.remove(key);
    }

    @Override
    public ToolCatalog of(UUID workspace) {
        return known.catalogues.getOrDefault(workspace, ToolCatalog.EMPTY);
    }

    @Override
    public List<String> names() {
        return known.names;
    }

    @Override
    public @Nullable String unusable(UUID workspace, String name) {
        Matcher named = NAMED.matcher(name);
        if (!named.matches()) {
            return null;
        }
        String server = named.group(1);
        String tool = named.group(2);
        McpServerRow definition = known.servers.get(new Key(workspace, server));
        if (definition == null) {
            return "the workspace has no MCP server '" + server + "'; `keelson mcp add` adds one";
        }
        McpToolRow row = tool(workspace, server, tool);
        if (row == null || row.accepted() == null && row.seen() == null) {
            String error = definition.error();
            return error != null ? "the MCP server '" + server + "' "
                    + (definition.definition().url() == null ? "does not start" : "does not answer")
                    + ", so that its tools are not known (" + error + "); `keelson mcp check " + server
                    + "` tries again"
                    : "the MCP server '" + server + "' has no such tool; `keelson mcp show " + server
                            + "` lists its tools";
        }
        return row.accepted() == null
                ? "the MCP server '" + server + "' has this tool, and it is off; `keelson mcp allow " + server + " "
                        + tool
                        + "` allows it"
                : row.changed() ? held(server, tool) : null;
    }

    /** Why a changed tool is not called. */
    static String held(String server, String tool) {
        return "the MCP server '" + server
                + "' describes this tool otherwise than it was accepted; look at it with `keelson mcp show "
                + server + "` and accept it with `keelson mcp accept " + server + " " + tool + "`";
    }

    /** After a change of a server by a person: looks at it, and makes the change known everywhere. */
    public void changed(UUID workspace, String server) throws InterruptedException {
        connections.drop(workspace, server);
        refresh();
        McpServerRow row = known.servers.get(new Key(workspace, server));
        if (row != null) {
            check(row);
        }
        changed.run();
    }

    /**
     * A person's answer to the question about a changed tool.
     *
     * @param reason null if absent
     * @return false when the question does not wait any more
     */
    public boolean answer(UUID workspace, UUID change, boolean accept, @Nullable String reason, AuditOrigin origin) {
        boolean answered = store.answer(workspace, change, accept, reason, origin);
        if (answered && accept) {
            accepted();
        }
        return answered;
    }

    /** After a person has accepted a tool: makes it known everywhere. */
    public void accepted() {
        refresh();
        changed.run();
    }

    /** Looks at a server's tools now; what is wrong is recorded with the server. False for an unknown server. */
    public boolean check(UUID workspace, String server) throws InterruptedException {
        refresh();
        McpServerRow row = known.servers.get(new Key(workspace, server));
        if (row == null) {
            return false;
        }
        check(row);
        changed.run();
        return true;
    }

    private void check(McpServerRow server) throws InterruptedException {
        try (McpConnections.Use use = connections.use(server)) {
            list(server, use);
        } catch (McpException e) {
            store.failed(server, SafeText.clean(e.code() + ": " + e.getMessage()));
        }
        refresh();
    }

    private static List<JsonNode> described(McpConnections.Use use) throws McpException, InterruptedException {
        try {
            return use.client().tools(LIST_TIMEOUT);
        } catch (McpException e) {
            throw e.saying(use.redaction().text(String.valueOf(e.getMessage())));
        }
    }

    private void list(McpServerRow server, McpConnections.Use use) throws McpException, InterruptedException {
        Map<String, ObjectNode> tools = new TreeMap<>();
        for (JsonNode tool : described(use)) {
            String name = tool.path("name").asString("");
            String flaw = flaw(server, name, tool);
            if (flaw == null) {
                tools.put(name, McpToolRow.pinned(SafeText.clean(use.redaction().json(tool))));
            } else {
                LOG.warn("the tool {} of the MCP server {} cannot be used: {}", name.replaceAll("[^ -~]", "?"),
                        server.name(), flaw);
            }
        }
        store.seen(server, use.client().version(), tools);
        listedAt.put(new Key(server.workspaceId(), server.name()), nanos.getAsLong());
    }

    private static @Nullable String flaw(McpServerRow server, String name, JsonNode tool) {
        if (!TOOL.matcher(name).matches()) {
            return "its name has other characters than letters, digits, '.', '_' and '-', or more than 128";
        }
        if (tool.path("title").toString().length() > MAX_TITLE) {
            return "its title has more than " + MAX_TITLE + " characters";
        }
        if (tool.path("annotations").toString().length() > MAX_ANNOTATIONS) {
            return "its annotations have more than " + MAX_ANNOTATIONS + " characters";
        }
        if (tool.path("description").asString("").length() > MAX_DESCRIPTION) {
            return "its description has more than " + MAX_DESCRIPTION + " characters";
        }
        if (tool.path("inputSchema").toString().length() + tool.path("outputSchema").toString().length() > MAX_SCHEMA) {
            return "its schemas have more than " + MAX_SCHEMA + " characters";
        }
        return server.definition().url() == null ? null : ParameterHeaders.flaw(tool.path("inputSchema"));
    }

    /** The last lines that a server wrote to its standard error on this node. */
    public List<String> log(UUID workspace, String server) {
        return connections.log(workspace, server);
    }

    /** The effects of a tool's calls, as its server and its definition mark them. */
    public static Effects effects(McpServerRow server, McpToolRow tool) {
        JsonNode described = tool.accepted() == null ? tool.seen() : tool.accepted();
        return McpEffects.of(server.definition(), tool.name(),
                described == null ? Json.object() : described.path("annotations"));
    }

    /**
     * A connection for a call, after a look at the server's tools where that is due.
     *
     * @throws McpException {@code MCP_UNREACHABLE} also when the workspace has the server no more
     */
    McpConnections.Use use(UUID workspace, String server) throws McpException, InterruptedException {
        Key key = new Key(workspace, server);
        McpServerRow row = known.servers.get(key);
        if (row == null) {
            throw McpException.unreachable("the workspace has no MCP server '" + server + "'");
        }
        McpConnections.Use use = connections.use(row);
        boolean done = false;
        try {
            if (use.fresh() || use.client().toolsChanged()) {
                listedAt.remove(key);
            }
            Long at = listedAt.get(key);
            if (at == null || nanos.getAsLong() - at > LISTED_FOR.toNanos()) {
                list(row, use);
                refresh();
            }
            done = true;
            return use;
        } finally {
            if (!done) {
                use.close();
            }
        }
    }

    @Override
    public @Nullable Origin origin(UUID workspace, String name) {
        Matcher named = NAMED.matcher(name);
        if (!named.matches()) {
            return null;
        }
        McpServerRow server = known.servers.get(new Key(workspace, named.group(1)));
        McpToolRow tool = tool(workspace, named.group(1), named.group(2));
        return server == null || tool == null ? null
                : new Origin(server.name(), tool.state(), server.definition().trusted());
    }

    /** The tool's row as it is known now; null if absent. */
    @Nullable McpToolRow tool(UUID workspace, String server, String tool) {
        return known.tools.getOrDefault(new Key(workspace, server), Map.of()).get(tool);
    }

    /** The next call of the server begins a new connection. */
    void drop(UUID workspace, String server) {
        connections.drop(workspace, server);
    }

    Database database() {
        return database;
    }

    /** Ends idle connections, and cancels tasks whose steps have ended. */
    private void upkeep() throws InterruptedException {
        connections.dropIdle();
        if (known.servers.isEmpty()) {
            return;
        }
        List<CallWaits.Stored> left = Tenancy.allWorkspaces(() -> database.inTransaction(CallWaits::takeEnded));
        for (CallWaits.Stored each : left) {
            String task = each.call().remoteTask();
            if (task != null) {
                cancel(each, task);
            }
        }
    }

    private void cancel(CallWaits.Stored left, String task) throws InterruptedException {
        try (McpConnections.Use use = use(left.workspaceId(), left.call().system())) {
            try {
                use.client().cancelTask(task, CANCEL_TIMEOUT);
            } catch (McpException e) {
                throw e.saying(use.redaction().text(String.valueOf(e.getMessage())));
            }
        } catch (McpException | SqlFailure e) {
            LOG.warn("the task of step {} on the MCP server {} could not be cancelled: {}", left.stepId(),
                    left.call().system(), e.getMessage());
        }
    }

    /** Its background task. */
    public BackgroundTask task() {
        return upkeep;
    }

    @Override
    public void close() throws InterruptedException {
        upkeep.close();
        connections.close();
    }
}
