package io.keelson.server.api.http.support;

import io.javalin.http.Context;
import io.keelson.server.tenant.auth.Caller;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.jspecify.annotations.Nullable;

/** A request to a {@link Mount}. Its caller is unknown. */
public final class MountedRequest {

    private static final String BEARER = "bearer ";

    private final Context context;
    private final Mount mount;
    private final Body body;
    private final Runnable admitted;
    private final BooleanSupplier stopping;

    /**
     * @param admitted called once the caller has shown valid credentials
     * @param stopping whether the server stops
     */
    public MountedRequest(Context context, Mount mount, Body body, Runnable admitted, BooleanSupplier stopping) {
        this.context = context;
        this.mount = mount;
        this.body = body;
        this.admitted = admitted;
        this.stopping = stopping;
    }

    /** As {@code POST}. */
    public String method() {
        return context.req().getMethod();
    }

    /** Below the mount's prefix, beginning with a slash; empty for the prefix itself. */
    public String path() {
        return context.path().substring(mount.path().length());
    }

    public @Nullable String header(String name) {
        return context.header(name);
    }

    /** A parameter of the query; null if absent. */
    public @Nullable String query(String name) {
        return context.queryParam(name);
    }

    /** Address of the peer. */
    public String peer() {
        return context.req().getRemoteAddr();
    }

    Context context() {
        return context;
    }

    /** The headers by name. */
    public Map<String, String> headers() {
        return context.headerMap();
    }

    /** The token of the header {@code Authorization}; null if absent. */
    public @Nullable String bearer() {
        String value = context.header("Authorization");
        return value != null && value.regionMatches(true, 0, BEARER, 0, BEARER.length())
                ? value.substring(BEARER.length()).strip()
                : null;
    }

    /** The request as one of that caller to a route without a schema. */
    public ApiRequest as(Caller caller) {
        return new ApiRequest(context, caller, body);
    }

    /**
     * The fields of a form.
     *
     * @throws ApiProblem if the body is longer, or no form
     */
    public Map<String, String> form(int mostBytes) throws IOException {
        Map<String, String> fields = new HashMap<>();
        for (String each : new String(body.bytes(mostBytes), StandardCharsets.US_ASCII).split("&")) {
            String[] pair = each.split("=", 2);
            try {
                fields.put(pair[0], pair.length == 1 ? "" : URLDecoder.decode(pair[1], StandardCharsets.UTF_8));
            } catch (IllegalArgumentException e) {
                throw ApiProblem.of(ErrorCode.MALFORMED_REQUEST, "the body is not a form");
            }
        }
        return fields;
    }

    public Body body() {
        return body;
    }

    /** Keeps the connection open while the request is served: its caller has shown valid credentials. */
    public void admit() {
        admitted.run();
    }

    /** True once the server stops: a request that waits ends its wait. */
    public boolean isStopping() {
        return stopping.getAsBoolean();
    }

    /** True when the client has closed its connection. Only to be asked once the body was read. */
    public boolean clientGone() {
        return ServletContextRequest.getServletContextRequest(context.req()).getConnectionMetaData().getConnection()
                .getEndPoint() instanceof WatchedConnector.EndPoint connection && connection.clientGone();
    }
}
