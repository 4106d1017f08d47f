package io.keelson.server.base.outbound;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.Connection;
import okhttp3.ConnectionPool;
import okhttp3.Dispatcher;
import okhttp3.Dns;
import okhttp3.EventListener;
import okhttp3.HttpUrl;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import okio.Buffer;
import org.jspecify.annotations.Nullable;

/**
 * Sends HTTP requests to the public Internet. Refuses other addresses by the address actually connected to, unless the
 * server's configuration allows them. Follows no redirects, keeps no cookies, uses no proxy. Thread-safe.
 * <p>The peer may have closed a pooled connection, and then it is unknown whether a request arrived. So reads are sent
 * again, and requests that may change something use a new connection.
 */
public final class OutboundClient implements AutoCloseable {

    private static final Set<String> FRAMING = Set.of("host", "content-length", "transfer-encoding", "connection",
            "upgrade", "te", "trailer", "keep-alive", "expect", "accept-encoding");
    private static final Set<String> READS = Set.of("GET", "HEAD", "OPTIONS");
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
    private static final int MAX_AT_ONCE = 100_000;
    private static final Runnable NO_ACTION = () -> {};

    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final OkHttpClient client;
    /** Keeps no connections. */
    private final OkHttpClient single;

    /** Whether a call has begun a new connection, and whether it has had one. */
    private static final class Connected {
        private volatile boolean created;
        private volatile boolean acquired;

        /** A time that was over before there was a connection is that of the connection. */
        private IOException failure(IOException e) {
            if (acquired || !(e instanceof InterruptedIOException)) {
                return e;
            }
            ConnectException late = new ConnectException("no connection in time");
            late.initCause(e);
            return late;
        }
    }

    private static final EventListener NOTING = new EventListener() {
        @Override
        public void connectStart(Call call, InetSocketAddress address, Proxy proxy) {
            Connected connected = call.request().tag(Connected.class);
            if (connected != null) {
                connected.created = true;
            }
        }

        @Override
        public void connectionAcquired(Call call, Connection connection) {
            Connected connected = call.request().tag(Connected.class);
            if (connected != null) {
                connected.acquired = true;
            }
        }
    };

    public OutboundClient(boolean allowPrivateAddresses) {
        this(allowPrivateAddresses, Dns.SYSTEM);
    }

    OutboundClient(boolean allowPrivateAddresses, Dns dns) {
        Dispatcher dispatcher = new Dispatcher(threads);
        dispatcher.setMaxRequests(MAX_AT_ONCE);
        dispatcher.setMaxRequestsPerHost(MAX_AT_ONCE);
        OkHttpClient.Builder builder = new OkHttpClient.Builder()
                .dispatcher(dispatcher)
                .connectionPool(new ConnectionPool(20, 30, TimeUnit.SECONDS))
                .dns(dns)
                .eventListener(NOTING)
                .proxy(Proxy.NO_PROXY)
                .followRedirects(false)
                .followSslRedirects(false)
                .retryOnConnectionFailure(false)
                .connectTimeout(CONNECT_TIMEOUT)
                .readTimeout(Duration.ZERO)
                .writeTimeout(Duration.ZERO);
        if (!allowPrivateAddresses) {
            builder.socketFactory(new GuardedSockets());
        }
        this.client = builder.build();
        this.single = client.newBuilder().connectionPool(new ConnectionPool(0, 1, TimeUnit.SECONDS)).build();
    }

    /** Whether a request to it can be sent at all. */
    public static boolean understands(String url) {
        HttpUrl parsed = HttpUrl.parse(url);
        return parsed != null && parsed.username().isEmpty() && parsed.password().isEmpty();
    }

    /**
     * Sends and waits for the whole answer. An interrupt ends the request before this returns.
     *
     * @throws OutboundRefusedException when the request is not allowed, or the answer is too large
     * @throws IOException when there was no answer: unknown host, no connection, timeout, broken off
     */
    public OutboundResponse send(OutboundRequest request) throws IOException, InterruptedException {
        return send(request, NO_ACTION);
    }

    /**
     * Sends a request; an action runs before the body of the response is read.
     *
     * @param beforeBody called on another thread; may block, and may be called again for a repeated request
     */
    public OutboundResponse send(OutboundRequest request, Runnable beforeBody)
            throws IOException, InterruptedException {
        Connected connected = new Connected();
        if (!READS.contains(request.method())) {
            return send(single, request, connected, beforeBody);
        }
        try {
            return send(client, request, connected, beforeBody);
        } catch (OutboundRefusedException | InterruptedIOException e) {
            throw e;
        } catch (IOException e) {
            if (connected.created) {
                throw e;
            }
            return send(single, request, connected, beforeBody);
        }
    }

    /**
     * Sends a request over a pooled connection, for callers that may repeat any broken request.
     *
     * @throws OutboundRefusedException when the request is not allowed, or the answer is too large
     * @throws IOException when there was no answer: unknown host, no connection, timeout, broken off
     */
    public OutboundResponse sendKept(OutboundRequest request) throws IOException, InterruptedException {
        return send(client, request, new Connected(), NO_ACTION);
    }

    /** Reads a response while it arrives. */
    @FunctionalInterface
    public interface ResponseReader<T> {

        /**
         * @param headers names in lower case; several values of one name joined by {@code ", "}
         * @param body ends with a {@link OutboundRefusedException} after the request's bound of bytes
         * @throws Exception becomes the cause of the future's failure
         */
        T read(int status, Map<String, String> headers, InputStream body) throws Exception;
    }

    /**
     * Sends over a connection of its own, and reads the response on a virtual thread. The rules for addresses apply.
     * Cancelling the future closes the connection.
     *
     * @param idle longest wait for the next byte of the response
     * @return fails with what the reader throws, or with an {@link IOException} when there was no response
     */
    public <T> CompletableFuture<T> stream(OutboundRequest request, Duration idle, ResponseReader<T> reader) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Connected connected = new Connected();
        Call call;
        try {
            call = single.newBuilder().readTimeout(Duration.ofMillis(Math.max(1, idle.toMillis()))).build()
                    .newCall(toOkHttp(request, connected));
        } catch (OutboundRefusedException e) {
            result.completeExceptionally(e);
            return result;
        }
        call.timeout().timeout(Math.max(1, request.timeout().toMillis()), TimeUnit.MILLISECONDS);
        result.whenComplete((value, failure) -> {
            if (result.isCancelled()) {
                call.cancel();
            }
        });
        call.enqueue(new Callback() {
            @Override
            public void onFailure(Call failed, IOException e) {
                result.completeExceptionally(connected.failure(e));
            }

            @Override
            public void onResponse(Call answered, Response response) {
                try (response; InputStream body = new BoundedStream(response.body().byteStream(), request.maxBytes())) {
                    result.complete(reader.read(response.code(), headers(response), body));
                } catch (Exception e) {
                    result.completeExceptionally(e);
                }
            }
        });
        return result;
    }

    private static OutboundResponse send(OkHttpClient over, OutboundRequest request, Connected connected,
            Runnable beforeBody) throws IOException, InterruptedException {
        Call call = over.newCall(toOkHttp(request, connected));
        call.timeout().timeout(Math.max(1, request.timeout().toMillis()), TimeUnit.MILLISECONDS);
        CompletableFuture<OutboundResponse> answer = new CompletableFuture<>();
        call.enqueue(new Callback() {
            @Override
            public void onFailure(Call failed, IOException e) {
                answer.completeExceptionally(connected.failure(e));
            }

            @Override
            public void onResponse(Call answered, Response response) {
                try (response) {
                    beforeBody.run();
                    answer.complete(read(response, request.maxBytes()));
                } catch (IOException | RuntimeException e) {
                    answer.completeExceptionally(e);
                }
            }
        });
        return await(call, answer);
    }

    private static OutboundResponse await(Call call, CompletableFuture<OutboundResponse> answer)
            throws IOException, InterruptedException {
        try {
            return answer.get();
        } catch (InterruptedException e) {
            call.cancel();
            answer.handle((response, failure) -> true).join();
            throw e;
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException io ? io : new IOException(e.getCause());
        }
    }

    private static Request toOkHttp(OutboundRequest request, Connected connected) throws OutboundRefusedException {
        if (!understands(request.url())) {
            throw new OutboundRefusedException("URL_INVALID",
                    "not an http or https URL, or one with a user and password");
        }
        Request.Builder builder = new Request.Builder().url(request.url()).tag(Connected.class, connected);
        for (Map.Entry<String, String> header : request.headers().entrySet()) {
            String name = header.getKey().toLowerCase(Locale.ROOT);
            if (FRAMING.contains(name) || name.startsWith("proxy-")) {
                throw new OutboundRefusedException("HEADER_NOT_ALLOWED", "the client itself sets " + header.getKey());
            }
            try {
                builder.header(header.getKey(), header.getValue());
            } catch (IllegalArgumentException e) {
                throw new OutboundRefusedException("HEADER_NOT_ALLOWED", "not a header: " + header.getKey());
            }
        }
        return builder.method(request.method(), body(request)).build();
    }

    private static @Nullable RequestBody body(OutboundRequest request) {
        boolean needsBody = Set.of("POST", "PUT", "PATCH").contains(request.method());
        return request.body() != null ? RequestBody.create(request.body(), null)
                : needsBody ? RequestBody.create(new byte[0], null) : null;
    }

    private static Map<String, String> headers(Response response) {
        Map<String, String> headers = new LinkedHashMap<>();
        response.headers().forEach(header -> {
            String name = header.getFirst().toLowerCase(Locale.ROOT);
            String separator = name.equals(OutboundResponse.COOKIES) ? "\n" : ", ";
            headers.merge(name, header.getSecond(), (one, other) -> one + separator + other);
        });
        return headers;
    }

    private static OutboundResponse read(Response response, int maxBytes) throws IOException {
        Buffer body = new Buffer();
        while (body.size() <= maxBytes && response.body().source().read(body, maxBytes + 1L - body.size()) >= 0) {
            continue;
        }
        if (body.size() > maxBytes) {
            throw OutboundRefusedException.tooLarge(maxBytes);
        }
        return new OutboundResponse(response.code(), headers(response), body.readByteArray());
    }

    /** Cancels pending requests and closes the connections. */
    @Override
    public void close() {
        client.dispatcher().cancelAll();
        client.connectionPool().evictAll();
        threads.close();
    }

    /** A stream that fails once it has given more bytes than its bound. */
    private static final class BoundedStream extends FilterInputStream {
        private final int maxBytes;
        private long given;

        BoundedStream(InputStream in, int maxBytes) {
            super(in);
            this.maxBytes = maxBytes;
        }

        @Override
        public int read() throws IOException {
            int one = super.read();
            count(one < 0 ? 0 : 1);
            return one;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            int read = super.read(bytes, offset, length);
            count(Math.max(0, read));
            return read;
        }

        private void count(int read) throws OutboundRefusedException {
            given += read;
            if (given > maxBytes) {
                throw OutboundRefusedException.tooLarge(maxBytes);
            }
        }
    }
}
