package io.keelson.server.api.http.support;

import io.javalin.http.Context;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Ids;
import io.keelson.core.run.TraceParent;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.KeyUse;
import io.keelson.server.tenant.audit.AuditOrigin;
import io.keelson.server.tenant.auth.Caller;
import io.keelson.server.tenant.auth.Principal;
import io.keelson.server.tenant.auth.Scope;
import io.keelson.server.tenant.workspace.Limits;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** One request to a route, its caller known. */
public final class ApiRequest {

    /** Headers that proxies add. */
    private static final List<String> FORWARDED = List.of("Forwarded", "X-Forwarded-For", "Via");

    private final Context context;
    private final @Nullable Caller caller;
    private final Body body;
    private final @Nullable RequestSchema schema;
    private final Query query;
    private Idempotency.@Nullable Keyed keyed;

    /**
     * @param schema of the body; null for a route that reads its body itself
     * @throws ApiProblem when the query has other parameters than the declared ones
     */
    public ApiRequest(Context context, @Nullable Caller caller, Body body, @Nullable RequestSchema schema,
            QueryParameters parameters) {
        this.context = context;
        this.caller = caller;
        this.body = body;
        this.schema = schema;
        this.query = parameters.read(caller == null ? null : caller.workspaceId(), context.queryParamMap(),
                context.queryString());
    }

    /** A request of a caller outside of the routes, without a query. */
    ApiRequest(Context context, Caller caller, Body body) {
        this.context = context;
        this.caller = caller;
        this.body = body;
        this.schema = null;
        this.query = new Query(Map.of(), Map.of(), null);
    }

    Context context() {
        return context;
    }

    /** The session that was shown; null where the key itself was. */
    public @Nullable UUID sessionId() {
        return caller().sessionId();
    }

    /** The scopes of the caller. */
    public Set<Scope> scopes() {
        return caller().scopes();
    }

    /** The address of the peer. */
    public String peer() {
        return context.req().getRemoteAddr();
    }

    public UUID keyId() {
        return caller().keyId();
    }

    public UUID workspace() {
        return caller().workspaceId();
    }

    /** The limits of the caller's workspace. */
    public Limits limits() {
        return caller().limits();
    }

    /** The caller, as events record it. */
    public Actor actor() {
        Principal principal = caller().principal();
        return switch (principal.kind()) {
            case PERSON -> Actor.human(principal.name());
            case SERVICE -> Actor.service(principal.name());
        };
    }

    /** Whether one person acts: no service, and no principal of a server's own keys, which several people may use. */
    public boolean isPerson() {
        Principal principal = caller().principal();
        return principal.kind() == Principal.Kind.PERSON
                && !Principal.RESERVED.contains(principal.name().toLowerCase(Locale.ROOT));
    }

    /** The caller, as the audit log records it. */
    public AuditOrigin origin() {
        return caller().from(context.req().getRemoteAddr());
    }

    /** True when a program on this machine asks, and not on behalf of one elsewhere. */
    public boolean fromThisMachine() {
        return InetAddress.ofLiteral(context.req().getRemoteAddr()).isLoopbackAddress()
                && FORWARDED.stream().allMatch(name -> context.header(name) == null);
    }

    /** True when the client has closed its connection. Only to be asked once the body was read. */
    public boolean clientGone() {
        return ServletContextRequest.getServletContextRequest(context.req()).getConnectionMetaData().getConnection()
                .getEndPoint() instanceof WatchedConnector.EndPoint connection && connection.clientGone();
    }

    /** Refuses a caller without the scope. */
    public void require(Scope scope) {
        Authenticator.require(caller(), scope);
    }

    /** Whether the caller's key has the scope. */
    public boolean has(Scope scope) {
        return caller().scopes().contains(scope);
    }

    private Caller caller() {
        if (caller == null) {
            throw new IllegalStateException("an open route has no caller");
        }
        return caller;
    }

    /** The caller's span; null if the header is missing or ignored. */
    @Nullable public TraceParent traceparent() {
        return traceparent(context);
    }

    public static @Nullable TraceParent traceparent(Context context) {
        List<String> given = Collections.list(context.req().getHeaders("traceparent"));
        return given.size() == 1 ? TraceParent.parse(given.getFirst()) : null;
    }

    /** The id in the path under this name. */
    public UUID id(String name, IdKind kind) {
        String text = context.pathParam(name);
        UUID id = kind.parse(text);
        if (id == null) {
            throw ApiProblem.of(ErrorCode.INVALID_ID, "'" + Excerpt.piece(text) + "' is not an id: a UUID, or "
                    + kind.prefixed(new UUID(0, 0)));
        }
        return id;
    }

    public String pathText(String name) {
        return context.pathParam(name);
    }

    public Query query() {
        return query;
    }

    public Body body() {
        return body;
    }

    /** The body, which fits the route's schema; an absent body counts as an object without members. */
    <T> T body(Class<T> type) throws IOException {
        return Objects.requireNonNull(schema).read(body.json(), type);
    }

    /** The body as a stream, without a limit; the reader must limit it. */
    public InputStream stream() {
        return body.stream();
    }

    /** How long the body is going to be; -1 when the request does not say. */
    public long contentLength() {
        return context.req().getContentLengthLong();
    }

    String method() {
        return context.req().getMethod();
    }

    String path() {
        return context.path();
    }

    /** The query as it was sent; empty if absent. */
    String queryText() {
        String text = context.queryString();
        return text == null ? "" : text;
    }

    /** The request's idempotency key; null if absent. */
    public Idempotency.@Nullable Keyed keyed() {
        return keyed;
    }

    /** Whether the idempotency key was used before: the effect exists, and only the answer is wanted. */
    public boolean repeats() {
        return keyed != null && keyed.repeated();
    }

    /** The use of the idempotency key for a run; null without a key. */
    public @Nullable KeyUse keyUse(UUID run) {
        return keyed == null ? null : keyed.use().of(run);
    }

    /** The id of the run that the request creates: if the request repeats, the id of the run created then. */
    public UUID runId(Ids ids) {
        return keyed == null ? ids.next() : keyed.runOr(ids.next());
    }

    void keyed(Idempotency.Keyed key) {
        keyed = key;
    }

    /**
     * Refuses a change if the header {@code If-Match} names another version; accepts any version without the header.
     * Called in the transaction of the change, with the row locked.
     *
     * @param current the member {@code current} of the refusal
     */
    public void requireVersion(String version, JsonNode current) {
        if (!ETag.ofVersion(header("If-Match"), version)) {
            throw ApiProblem.of(ErrorCode.VERSION_CHANGED, "it has changed since the version that If-Match names")
                    .with("current", current).header("ETag", ETag.of(version, Json.write(current)));
        }
    }

    @Nullable public String header(String name) {
        return context.header(name);
    }

    /** How often a header is there. */
    int headers(String name) {
        return Collections.list(context.req().getHeaders(name)).size();
    }
}
