package io.keelson.client;

import io.keelson.api.definition.Lifecycle;
import io.keelson.api.tenant.AuditEntry;
import io.keelson.api.tenant.DatabaseLoss;
import io.keelson.api.tenant.LimitsAndUse;
import io.keelson.api.tenant.WhoAmI;
import io.keelson.api.work.ModelInfo;
import io.keelson.api.work.NodeInfo;
import io.keelson.api.work.ToolInfo;
import io.keelson.api.work.WorkerInfo;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a Keelson server, safe for use by many threads at once.
 *
 * <pre>{@code
 * Keelson keelson = Keelson.connect();
 * Run run = keelson.runs().create(Mission.named("hello").goal("say hello").start()
 *         .task("greet", t -> t.step("say", "echo", Map.of("text", "hello"))));
 * Run ended = keelson.runs().awaitEnd(run.id(), Duration.ofMinutes(1));
 * }</pre>
 */
public final class Keelson {

    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration DEFAULT_SILENCE = Duration.ofSeconds(20);

    private final Api api;

    private Keelson(Api api) {
        this.api = api;
    }

    /**
     * Connects to the server that the environment names: {@code KEELSON_URL} and {@code KEELSON_API_KEY}, else the one
     * of the data directory ({@code KEELSON_DATA_DIR}, default {@code ~/.keelson}), which leaves its {@code url} and
     * {@code api-key} there. Does not call it yet.
     *
     * @throws KeelsonException {@code NO_SERVER_KNOWN} when neither names one
     */
    public static Keelson connect() {
        return builder(System.getenv()).build();
    }

    /**
     * A builder with the address and the key that {@link #connect()} finds.
     *
     * @param environment replaces the variables of the process
     * @throws KeelsonException {@code NO_SERVER_KNOWN} if no server is named
     */
    public static Builder builder(Map<String, String> environment) {
        Address found = Address.find(environment, System.getProperty("user.home"));
        return builder().url(found.url()).apiKey(found.apiKey());
    }

    /** A builder with default settings. */
    public static Builder builder() {
        return new Builder();
    }

    /** Runs: submit, read, control. */
    public Runs runs() {
        return new Runs(api);
    }

    /** Archived runs. */
    public Archives archive() {
        return new Archives(api);
    }

    /** Commands to many runs. */
    public Bulk bulk() {
        return new Bulk(api);
    }

    /** Missions that are kept to be run again. */
    public Recipes recipes() {
        return new Recipes(api);
    }

    /** Runs that are made at times. */
    public Schedules schedules() {
        return new Schedules(api);
    }

    /** Results that steps take over from other runs. */
    public CachedResults cache() {
        return new CachedResults(api);
    }

    /** Versions of workers. */
    public Versions versions() {
        return new Versions(api);
    }

    /** Runs that are started by events. */
    public Triggers triggers() {
        return new Triggers(api);
    }

    /** Receivers of the workspace's events. */
    public Webhooks webhooks() {
        return new Webhooks(api);
    }

    /** Steps of runs. */
    public Steps steps() {
        return new Steps(api);
    }

    /** Tasks of runs. */
    public Tasks tasks() {
        return new Tasks(api);
    }

    /** MCP servers, whose tools plans and agents use. */
    public McpServers mcpServers() {
        return new McpServers(api);
    }

    /** Write-only values that plans use by name. */
    public Secrets secrets() {
        return new Secrets(api);
    }

    /** Deployments, orders and other commands to the world outside. */
    public ExternalCommands commands() {
        return new ExternalCommands(api);
    }

    /** The inbox. */
    public Inbox inbox() {
        return new Inbox(api);
    }

    /** Proposals of steps. */
    public Proposals proposals() {
        return new Proposals(api);
    }

    /** Escalation tickets. */
    public Escalations escalations() {
        return new Escalations(api);
    }

    /** The work board. */
    public Board board() {
        return new Board(api);
    }

    /** Reports on tasks and runs. */
    public Reports reports() {
        return new Reports(api);
    }

    /** Balance and charges of the workspace. */
    public Credits credits() {
        return new Credits(api);
    }

    /** Every transfer of the workspace's credits. */
    public Ledger ledger() {
        return new Ledger(api);
    }

    /** The agents of the workspace, and runs of single ones. */
    public Agents agents() {
        return new Agents(api);
    }

    /** The installation's price list. */
    public Prices prices() {
        return new Prices(api);
    }

    /** The workspaces of the installation, for operators. */
    public Workspaces workspaces() {
        return new Workspaces(api);
    }

    /** API keys of the workspace. */
    public ApiKeys apiKeys() {
        return new ApiKeys(api);
    }

    /** Browsers that are signed in. */
    public Sessions sessions() {
        return new Sessions(api);
    }

    /** The key of this connection, and its workspace. */
    public WhoAmI whoAmI() {
        return Json.document(api.get("/whoami"), WhoAmI.class);
    }

    /** Limits of the workspace, and its use. */
    public LimitsAndUse limits() {
        return Json.document(api.get("/limits"), LimitsAndUse.class);
    }

    /**
     * Actions of operators and administrators, newest first; for operators.
     *
     * @param workspace selects actions on this workspace; null for all
     * @param cursor the start of the page, from {@link Page#nextCursor()}; null for the newest
     */
    public Page<AuditEntry> audit(@Nullable String workspace, @Nullable String cursor, int limit) {
        return Page.of(api.get(RequestPath.of("/audit").with("workspace_id", workspace).with("cursor", cursor)
                .with("limit", limit).toString()), AuditEntry.class);
    }

    /** The servers that sent a heartbeat within a minute; for operators. */
    public List<NodeInfo> nodes() {
        return all("/nodes", NodeInfo.class);
    }

    /** The latest times that the database went back, newest first; for operators. */
    public List<DatabaseLoss> databaseLosses() {
        return all("/database/losses", DatabaseLoss.class);
    }

    /** Has all servers continue without the commits that the database lost; returns the losses; for operators. */
    public List<DatabaseLoss> acceptDatabase() {
        return Page.of(api.post("/database/accept", null), DatabaseLoss.class).items();
    }

    /**
     * New events of the workspace, each once; to be closed.
     *
     * @param types only these, as {@code type} or {@code event_type} names them; empty for all
     * @param follow whether to wait for more where there is no further event
     * @param after the id behind which to begin; 0 for the first event, null for what happens from now on
     */
    public EventStream eventStream(Set<String> types, boolean follow, @Nullable Long after) {
        return new EventStream(api, RequestPath.of("/events/stream")
                .with("types", types.isEmpty() ? null : String.join(",", types)).toString(), types, follow, after);
    }

    /** Lists the known workers. */
    public List<WorkerInfo> workers() {
        return all("/workers", WorkerInfo.class);
    }

    /** Tools that steps can use: built in, or served by workers. */
    public List<ToolInfo> tools() {
        return all("/tools", ToolInfo.class);
    }

    /** The models that the server calls, by name. */
    public List<ModelInfo> models() {
        return all("/models", ModelInfo.class);
    }

    /** The published state machines: the canonical ones, then the contracts. */
    public List<Lifecycle> lifecycles() {
        return all("/lifecycles", Lifecycle.class);
    }

    /**
     * One of them.
     *
     * @param name {@code run}, {@code agent}, {@code task}, {@code step}, or a contract's
     * @throws KeelsonException {@code LIFECYCLE_NOT_FOUND}
     */
    public Lifecycle lifecycle(String name) {
        return Json.document(api.get(RequestPath.of("/lifecycles/", name).toString()), Lifecycle.class);
    }

    /** Whether runs can be taken; false also when no server answers. */
    public boolean ready() {
        try {
            return api.send(Call.probe("/readyz")).status() == 200;
        } catch (KeelsonException e) {
            return false;
        }
    }

    /**
     * Whether a server exists, even if it is not ready or too busy to respond in time. On this machine a server that is
     * too busy to accept the connection counts, too: without a listener, the connection is refused at once.
     */
    public boolean present() {
        try {
            return api.send(Call.probe("/healthz")).body().path("status").asString("").equals("ok");
        } catch (KeelsonException e) {
            return e.code().equals("CALL_TIMEOUT") || e.getCause() instanceof HttpConnectTimeoutException && loopback();
        }
    }

    private boolean loopback() {
        try {
            return url().getHost() != null && InetAddress.getByName(url().getHost()).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    /** The HTTP API as plain JSON. */
    public Api api() {
        return api;
    }

    /** The address of the server. */
    public URI url() {
        return api.base();
    }

    private <T> List<T> all(String path, Class<T> type) {
        return Page.all(cursor -> Page.of(api.get(RequestPath.of(path).with("cursor", cursor).toString()), type));
    }

    /** Settings of a connection. */
    public static final class Builder {

        private @Nullable URI url;
        private @Nullable String apiKey;
        private Duration timeout = DEFAULT_TIMEOUT;
        private Duration silence = DEFAULT_SILENCE;

        private Builder() {}

        /**
         * The server's base URL, such as {@code http://127.0.0.1:7331}. Required.
         *
         * @throws KeelsonException with the correction, if it is not the address of a server
         */
        public Builder url(String value) {
            this.url = Address.checked(value);
            return this;
        }

        /** Sets the API key; null if absent. */
        public Builder apiKey(@Nullable String value) {
            this.apiKey = value;
            return this;
        }

        /** For connecting, for the begin of each answer, and for each next byte of it; 30 s when not given. */
        public Builder timeout(Duration value) {
            this.timeout = value;
            return this;
        }

        /** How long a stream of events may be without even a comment before it is opened again; 20 s when not given. */
        public Builder silence(Duration value) {
            this.silence = value;
            return this;
        }

        /** Creates the client. It opens no connection yet. */
        public Keelson build() {
            if (url == null) {
                throw new IllegalStateException("url is required");
            }
            return new Keelson(new Api(url, apiKey, timeout, silence));
        }
    }
}
