package io.keelson.server.api.http;

import io.javalin.Javalin;
import io.javalin.compression.CompressionStrategy;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import io.javalin.http.HttpResponseException;
import io.javalin.util.JavalinException;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.Authenticator;
import io.keelson.server.api.http.support.BearerTokens;
import io.keelson.server.api.http.support.Body;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.ErrorPages;
import io.keelson.server.api.http.support.ExceptionMapper;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Idempotency;
import io.keelson.server.api.http.support.KnownHosts;
import io.keelson.server.api.http.support.LongPoll;
import io.keelson.server.api.http.support.Mount;
import io.keelson.server.api.http.support.MountedRequest;
import io.keelson.server.api.http.support.Observed;
import io.keelson.server.api.http.support.QueryParameters;
import io.keelson.server.api.http.support.RequestListener;
import io.keelson.server.api.http.support.RequestRate;
import io.keelson.server.api.http.support.RequestSchema;
import io.keelson.server.api.http.support.ResponseWriter;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.SessionCookie;
import io.keelson.server.api.http.support.ShutdownSignal;
import io.keelson.server.api.http.support.TimedInputStream;
import io.keelson.server.api.http.support.WatchedConnector;
import io.keelson.server.api.http.support.WebPages;
import io.keelson.server.api.http.support.WentBack;
import io.keelson.server.api.web.Dashboard;
import io.keelson.server.base.compute.Computation;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.base.json.DocumentMemory;
import io.keelson.server.base.log.LogContext;
import io.keelson.server.engine.history.DatabaseHistory;
import io.keelson.server.tenant.auth.Caller;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.eclipse.jetty.http.HttpException;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The HTTP API of one server: each request on a virtual thread of its own. */
public final class HttpServer implements AutoCloseable {

    private static final String METHOD_OVERRIDE = "X-HTTP-Method-Override";
    private static final int HEADER_BYTES = 16 << 10;
    /** Maximum bodies of the largest size at a time, or more smaller ones, where the heap is small. */
    private static final int LARGEST_BODIES = 4;
    /** Part of the heap for bodies and their trees. */
    private static final int HEAP_PART = 4;
    private static final long IDLE_MARGIN_MILLIS = 15_000;
    /** Connections that wait to be accepted; the system may allow fewer. */
    private static final int BACKLOG = 1_024;
    private static final long IDLE_AT_STOP_MILLIS = 100;
    private static final List<HandlerType> MOUNTED = List.of(HandlerType.GET, HandlerType.HEAD, HandlerType.POST,
            HandlerType.PUT, HandlerType.PATCH, HandlerType.DELETE, HandlerType.OPTIONS);

    private final HttpOptions options;
    private final ShutdownSignal shutdown = new ShutdownSignal();
    private final KnownHosts hosts;
    private final Authenticator authenticator;
    private final DocumentMemory memory;
    private final Computation computation;
    private final Idempotency idempotency;
    private final DatabaseHistory history;
    private final List<RequestListener> requestListeners;
    private final List<Route> routes;
    private final List<Mount> mounts;
    private final Map<Route, RequestSchema> schemas = new IdentityHashMap<>();
    private final Map<Route, QueryParameters> parameters = new IdentityHashMap<>();
    private final Connections connections;
    private final Javalin javalin;

    /** Begins to read the API's description, which a server that is made later waits for. */
    public static void prepare() {
        OpenApi.prepare();
    }

    public HttpServer(HttpOptions options, ApiServices services) {
        this(options, services, Observed.NOTHING);
    }

    public HttpServer(HttpOptions options, ApiServices services, Observed observed) {
        this.requestListeners = observed.requestListeners();
        this.options = options;
        this.memory = new DocumentMemory(Math.max((long) LARGEST_BODIES * options.maxBodyBytes(),
                Runtime.getRuntime().maxMemory() / HEAP_PART));
        this.computation = services.work().computation();
        this.history = services.history();
        this.idempotency = new Idempotency(services.database(), services.runs().keys());
        SessionCookie cookie = new SessionCookie(options.publicUrl());
        this.hosts = new KnownHosts(options.host(), options.publicUrl());
        this.authenticator = new Authenticator(services.auth().holders(), new RequestRate(System::nanoTime), cookie,
                services.modules().stream().map(ToolModule::tokens).filter(Objects::nonNull).findFirst()
                        .orElse(BearerTokens.UNUSED));
        this.routes = Routes.of(services, new LongPoll(options.longestPoll(), shutdown, authenticator), authenticator,
                shutdown, observed, OpenApi.served(this::description), cookie, hosts, idempotency, options);
        this.mounts = services.modules().stream()
                .flatMap(module -> module.mounts(services.work().commands()).stream()).toList();
        RequestSchema.Table bodies = OpenApi.bodies();
        routes.stream().filter(route -> route.body() != null)
                .forEach(route -> schemas.put(route, bodies.of(route)));
        JsonNode document = OpenApi.shared();
        routes.forEach(route -> parameters.put(route, new QueryParameters(document, route)));
        this.connections = new Connections(options.connections(), options.requestTimeout(), System::nanoTime);
        observed.background().accept(connections.task());
        this.javalin = Javalin.create(this::configure);
    }

    /** The API's description with the scopes of the routes. */
    private ObjectNode description() {
        ObjectNode document = OpenApi.document();
        OpenApi.addScopes(document, routes);
        return document;
    }

    /**
     * Refuses an address at which this process cannot listen, before anything is started for it.
     *
     * @param port 0 for a free one
     * @throws HttpStartException PORT_IN_USE or ADDRESS_NOT_USABLE
     */
    public static void requireUsable(String host, int port) {
        try (ServerSocket probe = new ServerSocket()) {
            probe.bind(new InetSocketAddress(host, port));
        } catch (IOException e) {
            throw notStarted(host, port, e);
        }
    }

    /**
     * Begins to listen.
     *
     * @throws HttpStartException PORT_IN_USE or ADDRESS_NOT_USABLE
     */
    public void start() {
        try {
            javalin.start();
            connections.watch();
        } catch (JavalinException e) {
            throw notStarted(options.host(), options.port(), e);
        }
    }

    /** The port listened at. */
    public int port() {
        return javalin.port();
    }

    /** The address of the API for programs on this machine. */
    public URI url() {
        boolean everywhere = options.host().equals("0.0.0.0") || options.host().equals("::");
        String host = everywhere ? "127.0.0.1" : options.host();
        return URI.create("http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port());
    }

    List<Route> routes() {
        return routes;
    }

    /** Takes no more requests, lets those under way finish, and ends. */
    @Override
    public void close() throws InterruptedException {
        shutdown.begin();
        connections.close();
        javalin.stop();
    }

    private void configure(JavalinConfig config) {
        config.startup.showJavalinBanner = false;
        config.startup.startupWatcherEnabled = false;
        config.concurrency.useVirtualThreads = true;
        config.http.prefer405over404 = true;
        // ResponseWriter compresses documents, and nothing else.
        config.http.compressionStrategy = CompressionStrategy.NONE;
        config.jetty.modifyServer(this::configure);
        config.jetty.modifyServletContextHandler(context -> context.setErrorHandler(new ErrorPages()));
        config.jetty.addConnector(this::connector);
        for (Route route : routes) {
            config.routes.addHttpHandler(route.method(), route.path(), context -> observe(context, route));
            if (route.method() == HandlerType.GET) {
                config.routes.addHttpHandler(HandlerType.HEAD, route.path(), context -> observe(context, route));
            }
        }
        for (Mount mount : mounts) {
            MOUNTED.forEach(method -> {
                config.routes.addHttpHandler(method, mount.path(), context -> observe(context, mount));
                config.routes.addHttpHandler(method, mount.path() + "/<rest>", context -> observe(context, mount));
            });
        }
        Dashboard dashboard = options.dashboard();
        if (dashboard != null) {
            WebPages pages = new WebPages(dashboard);
            config.routes.addHttpHandler(HandlerType.GET, "/ui/<file>", context -> serve(context, pages));
            config.routes.addHttpHandler(HandlerType.GET, "/ui", context -> serve(context, pages));
        }
        config.routes.exception(HttpResponseException.class, this::refuse);
    }

    private void configure(Server server) {
        server.setErrorHandler(new ErrorPages());
        server.setHandler(new GracefulHandler());
        server.setStopTimeout(options.grace().toMillis());
    }

    private Connector connector(Server server, HttpConfiguration http) {
        http.setRequestHeaderSize(HEADER_BYTES);
        http.setSendServerVersion(false);
        http.addCustomizer((request, answer) -> requireChunked(request));
        http.addCustomizer((request, answer) -> withoutOverride(request));
        http.addCustomizer((request, answer) -> hosts.require(request));
        ServerConnector connector = new WatchedConnector(server, new HttpConnectionFactory(http));
        connector.setHost(options.host());
        connector.setPort(options.port());
        connector.setIdleTimeout(idleMillis());
        connector.setShutdownIdleTimeout(IDLE_AT_STOP_MILLIS);
        connector.setAcceptQueueSize(BACKLOG);
        connector.addBean(connections);
        return connector;
    }

    /**
     * Jetty removes the chunks and would pass what other transfer codings left as the body (RFC 9112, section 6.1).
     *
     * @throws HttpException.RuntimeException 501 for another coding than {@code chunked}
     */
    private static Request requireChunked(Request request) {
        List<String> codings = request.getHeaders().getCSV(HttpHeader.TRANSFER_ENCODING, false);
        if (!codings.stream().allMatch("chunked"::equalsIgnoreCase)) {
            throw new HttpException.RuntimeException(HttpStatus.NOT_IMPLEMENTED_501);
        }
        return request;
    }

    /** Javalin would obey the header: a proxy that lets only GET pass would let everything pass. */
    private static Request withoutOverride(Request request) {
        if (!request.getHeaders().contains(METHOD_OVERRIDE)) {
            return request;
        }
        HttpFields headers = HttpFields.build(request.getHeaders()).remove(METHOD_OVERRIDE).asImmutable();
        return new Request.Wrapper(request) {
            @Override
            public HttpFields getHeaders() {
                return headers;
            }
        };
    }

    private void observe(Context context, Route route) throws IOException {
        long begun = System.nanoTime();
        try {
            serve(context, route);
        } finally {
            long nanos = System.nanoTime() - begun;
            requestListeners.forEach(each -> each.answered(route.method().name(), route.path(), context.statusCode(),
                    nanos, ApiRequest.traceparent(context)));
        }
    }

    private void observe(Context context, Mount mount) throws IOException {
        long begun = System.nanoTime();
        Connection connection = connection(context);
        connection.getEndPoint().setIdleTimeout(options.requestTimeout().toMillis());
        try {
            serve(context, mount, connection);
        } finally {
            connection.getEndPoint().setIdleTimeout(idleMillis());
            connections.release(connection);
            long nanos = System.nanoTime() - begun;
            requestListeners.forEach(each -> each.answered(context.method().name(), mount.path(), context.statusCode(),
                    nanos, ApiRequest.traceparent(context)));
        }
    }

    private void serve(Context context, Mount mount, Connection connection) throws IOException {
        TimedInputStream arriving = arriving(context);
        try (Body body = new Body(context.req(), arriving, options.maxBodyBytes(), memory, null, computation)) {
            MountedRequest request =
                    new MountedRequest(context, mount, body, () -> connections.admit(connection), shutdown::hasBegun);
            ApiResponse response;
            try {
                response = connections.isLate(connection)
                        ? mount.refusal(request, ApiProblem.of(ErrorCode.OVERLOADED,
                                "the server has too many connections; nothing was changed"))
                        : body.<ApiResponse, Exception>within(() -> mount.answer(request));
            } catch (Throwable failure) {
                ApiProblem problem = ExceptionMapper.refusal(failure, context.method() + " " + mount.path());
                requestListeners.forEach(each -> each.refused(problem.code()));
                response = mount.refusal(request, problem);
            }
            ResponseWriter.send(context, response, arriving);
        }
    }

    private void serve(Context context, WebPages pages) {
        Connection connection = connection(context);
        connection.getEndPoint().setIdleTimeout(options.requestTimeout().toMillis());
        try {
            pages.serve(context);
        } finally {
            connection.getEndPoint().setIdleTimeout(idleMillis());
            connections.release(connection);
        }
    }

    private void serve(Context context, Route route) throws IOException {
        Connection connection = connection(context);
        EndPoint endPoint = connection.getEndPoint();
        endPoint.setIdleTimeout(options.requestTimeout().toMillis());
        try {
            if (route.open()) {
                serve(context, route, (Caller) null);
            } else if (connections.isLate(connection)) {
                refuse(context, route, ApiProblem.of(ErrorCode.OVERLOADED,
                        "the server has too many connections; nothing was changed").header("Retry-After", "1")
                        .header("Connection", "close"));
            } else {
                serve(context, route, connection);
            }
        } finally {
            endPoint.setIdleTimeout(idleMillis());
            connections.release(connection);
        }
    }

    private void serve(Context context, Route route, Connection connection) throws IOException {
        Caller caller;
        try {
            caller = authenticator.enter(context, route.scope());
        } catch (RuntimeException failure) {
            refuse(context, route, failure);
            return;
        }
        connections.admit(connection);
        if (route.scope() == Scope.OPERATOR) {
            serve(context, route, caller);
        } else {
            Tenancy.<@Nullable Object, IOException>within(caller.workspaceId(), () -> {
                serve(context, route, caller);
                return null;
            });
        }
    }

    private void refuse(Context context, Route route, RuntimeException failure) throws IOException {
        ResponseWriter.send(context, refused(failure, route, context, null), arriving(context));
    }

    /** Answers; what streams reads on while it is sent. */
    private void serve(Context context, Route route, @Nullable Caller caller) throws IOException {
        ApiResponse response;
        TimedInputStream timedInputStream = arriving(context);
        UUID workspace = caller == null ? null : caller.workspaceId();
        try (Body body = new Body(context.req(), timedInputStream, options.maxBodyBytes(), memory, workspace,
                computation)) {
            ApiRequest request = new ApiRequest(context, caller, body, schemas.get(route),
                    Objects.requireNonNull(parameters.get(route)));
            response = body.<ApiResponse, Exception>within(() -> answer(route, request));
        } catch (Throwable failure) {
            response = refused(failure, route, context, caller);
        }
        try {
            ResponseWriter.send(context, response, timedInputStream);
        } catch (JacksonException failure) {
            ResponseWriter.send(context, refused(failure, route, context, caller), timedInputStream);
        }
    }

    private TimedInputStream arriving(Context context) throws IOException {
        EndPoint endPoint = connection(context).getEndPoint();
        return new TimedInputStream(context.req().getInputStream(), options.requestTimeout(),
                silence -> endPoint.setIdleTimeout(Math.max(1, silence.toMillis())), System::nanoTime);
    }

    private static Connection connection(Context context) {
        return ServletContextRequest.getServletContextRequest(context.req()).getConnectionMetaData().getConnection();
    }

    /** For how long a connection between two requests may be silent. */
    private long idleMillis() {
        return shutdown.hasBegun() ? IDLE_AT_STOP_MILLIS : options.longestPoll().toMillis() + IDLE_MARGIN_MILLIS;
    }

    private ApiResponse refused(Throwable failure, Route route, Context context, @Nullable Caller caller) {
        ApiProblem problem;
        try (LogContext _ = about(route, context, caller)) {
            problem = ExceptionMapper.refusal(failure, route.method() + " " + route.path());
        }
        requestListeners.forEach(each -> each.refused(problem.code()));
        return problem.answer();
    }

    private static LogContext about(Route route, Context context, @Nullable Caller caller) {
        LogContext logContext = LogContext.workspace(caller == null ? null : caller.workspaceId());
        return route.path().contains("/runs/{id}")
                ? logContext.and(LogContext.RUN, IdKind.RUN.parse(context.pathParam("id")))
                : logContext;
    }

    private ApiResponse answer(Route route, ApiRequest request) throws IOException, InterruptedException {
        if (!route.open() && WentBack.refuses(route)) {
            WentBack.require(history);
        }
        return route.keyed() ? idempotency.answer(request, route.action()) : route.action().answer(request);
    }

    /** Rejections of the router: an unknown path, or a method that the path does not have. */
    private void refuse(HttpResponseException refused, Context context) {
        ApiProblem problem = ExceptionMapper.ofStatus(refused.getStatus());
        if (refused.getStatus() == ErrorCode.METHOD_NOT_ALLOWED.status()) {
            problem.header("Allow", String.join(", ", methodsOf(context.path())));
        }
        requestListeners.forEach(each -> each.refused(problem.code()));
        requestListeners.forEach(each -> each.answered(context.method().name(), "unmatched", refused.getStatus(), 0,
                ApiRequest.traceparent(context)));
        try {
            ResponseWriter.send(context, problem.answer(), arriving(context));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<String> methodsOf(String path) {
        return routes.stream().filter(route -> route.matches(path)).map(route -> route.method().name()).distinct()
                .sorted().toList();
    }

    private static HttpStartException notStarted(String host, int port, Exception e) {
        return inUse(e)
                ? new HttpStartException(HttpStartException.Code.PORT_IN_USE, port, "Port " + port + " of " + host
                        + " is in use. Stop the program that uses it, or choose another port (0 for any free one).", e)
                : new HttpStartException(HttpStartException.Code.ADDRESS_NOT_USABLE, port,
                        "Cannot listen at " + host + ":" + port + ": " + e.getMessage(), e);
    }

    private static boolean inUse(Exception failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof BindException && String.valueOf(cause.getMessage()).contains("in use")) {
                return true;
            }
        }
        return false;
    }
}
