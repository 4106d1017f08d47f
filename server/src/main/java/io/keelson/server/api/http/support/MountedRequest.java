package io.keelson.server.api.http.support;

import io.javalin.http.Context;
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
