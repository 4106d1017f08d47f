package io.keelson.client;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.zip.GZIPInputStream;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * The HTTP API as plain JSON, for routes that have no typed method. Paths are relative to {@code /api/v1} and begin
 * with a slash. Every method throws {@link KeelsonException} when the server refuses or cannot be reached; reads are
 * repeated a few times over lost connections, 429, 502, 503 and 504, writes are not.
 */
public final class Api {

    private static final int TRIES = 4;
    private static final Duration FIRST_DELAY = Duration.ofMillis(100);
    private static final Duration LONGEST_DELAY = Duration.ofSeconds(2);
    private static final String INTERRUPTED = "interrupted while waiting for the server";

    private final URI base;
    private final @Nullable String apiKey;
    private final Duration timeout;
    private final Duration silence;
    private final HttpClient http;

    /** @param silence how long a stream of events may be silent before its connection counts as lost */
    Api(URI base, @Nullable String apiKey, Duration timeout, Duration silence) {
        this.base = base;
        this.apiKey = apiKey;
        this.timeout = timeout;
        this.silence = silence;
        // HTTP/1.1: the server is usually plain text, where HTTP/2 costs an upgrade round and brings nothing
        HttpClient.Builder builder = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(timeout);
        this.http = "https".equalsIgnoreCase(base.getScheme()) ? builder.build()
                : builder.sslContext(withoutCertificates()).build();
    }

    /** For plain HTTP. To read the certificates of the JDK's default context takes longer than a short command. */
    private static SSLContext withoutCertificates() {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(new KeyManager[0], new TrustManager[0], null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("no TLS in this JDK", e);
        }
    }

    URI base() {
        return base;
    }

    /** Reads a document. */
    public JsonNode get(String path) {
        return send(Call.get(path)).body();
    }

    /** Sends a document once; never again by itself. */
    public JsonNode post(String path, @Nullable JsonNode body) {
        return send(Call.post(path, body)).body();
    }

    /** Posts with a time limit of its own, for calls that the server holds open. */
    public JsonNode post(String path, @Nullable JsonNode body, Duration limit) {
        return send(Call.post(path, body).within(limit)).body();
    }

    /**
     * Sends a file's content unchanged and reads the response document. Repeated over lost connections, 429, 502, 503
     * and 504: only for routes where a repetition is harmless.
     *
     * @param limit for the whole upload
     * @throws IllegalArgumentException when the file cannot be read
     */
    public JsonNode upload(String path, String contentType, Path file, Duration limit) {
        if (!Files.isReadable(file)) {
            throw new IllegalArgumentException(file + " cannot be read");
        }
        return send(Call.post(path, null).repeatable().within(limit).content(contentType, file)).body();
    }

    /** Reads raw content; the caller closes the stream. */
    public InputStream stream(String path) {
        return exchange(Call.get(path), call -> streamed(call, limit(call)).body());
    }

    /** Opens a stream of events; its status is 204 if nothing follows. The caller closes the body. */
    HttpResponse<InputStream> events(String path) {
        return exchange(Call.get(path), call -> streamed(call, silence));
    }

    HttpReply send(Call call) {
        return exchange(call, this::whole);
    }

    private <T> T exchange(Call call, Exchange<T> exchange) {
        Backoff backoff = new Backoff(FIRST_DELAY, LONGEST_DELAY);
        while (true) {
            try {
                return exchange.run(call);
            } catch (KeelsonException e) {
                Duration delay = backoff.next(e.retryAfter());
                if (!call.idempotent() || !repeatable(e) || backoff.failures() >= TRIES) {
                    throw e;
                }
                pause(delay);
            }
        }
    }

    private static boolean repeatable(KeelsonException e) {
        return switch (e.code()) {
            case "SERVER_UNREACHABLE", "CONNECTION_LOST", KeelsonException.IN_FLIGHT -> true;
            default -> e.status() == 429 || e.status() == 502 || e.status() == 503 || e.status() == 504;
        };
    }

    private HttpReply whole(Call call) {
        return transfer(call.header("Accept-Encoding", "gzip"), limit(call), answer -> {
            byte[] content;
            try (InputStream body = answer.body()) {
                content = body.readAllBytes();
            }
            int status = answer.statusCode();
            JsonNode document = parse(status, unpacked(answer, content));
            if (status >= 400) {
                throw KeelsonException.refused(status, document, retryAfter(answer));
            }
            return new HttpReply(status, document, answer.headers().firstValue("ETag").orElse(null));
        });
    }

    private byte[] unpacked(HttpResponse<?> answer, byte[] content) {
        if (!answer.headers().firstValue("Content-Encoding").orElse("").equalsIgnoreCase("gzip")) {
            return content;
        }
        try (InputStream bytes = new GZIPInputStream(new ByteArrayInputStream(content))) {
            return bytes.readAllBytes();
        } catch (IOException e) {
            throw KeelsonException.local("BAD_ANSWER", base + " answered something that is not gzip", e);
        }
    }

    /** @param silence how long a read of the body waits for the next byte */
    private HttpResponse<InputStream> streamed(Call call, Duration silence) {
        return transfer(call, silence, answer -> {
            if (answer.statusCode() < 400) {
                return answer;
            }
            try (InputStream body = answer.body()) {
                throw KeelsonException.refused(answer.statusCode(), parse(answer.statusCode(), body.readAllBytes()),
                        retryAfter(answer));
            }
        });
    }

    private Duration limit(Call call) {
        return call.timeout() == null ? timeout : call.timeout();
    }

    /** @param silence how long a read of the body waits for the next byte */
    private <T> T transfer(Call call, Duration silence, Reader<T> reader) {
        try {
            return reader.read(http.send(request(call), head -> new AnswerBody(silence)));
        } catch (ConnectException | HttpConnectTimeoutException e) {
            throw KeelsonException.local("SERVER_UNREACHABLE", "no server at " + base, e);
        } catch (HttpTimeoutException e) {
            throw KeelsonException.local("CALL_TIMEOUT",
                    call.method() + " " + call.path() + " was not answered in time by " + base, e);
        } catch (SSLException e) {
            throw ofTls(e);
        } catch (InterruptedIOException e) {
            throw KeelsonException.local("INTERRUPTED", INTERRUPTED, e);
        } catch (IOException e) {
            throw KeelsonException.local("CONNECTION_LOST", "connection to " + base + " lost: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private KeelsonException ofTls(SSLException e) {
        String message = String.valueOf(e.getMessage());
        String fault = message.contains("nrecognized SSL message")
                ? "it is not a server of HTTPS; its address may begin with http://"
                : message.contains("PKIX") || message.contains("No subject alternative")
                        ? "its certificate is not accepted (" + message + ")"
                        : null;
        return fault == null
                ? KeelsonException.local("CONNECTION_LOST", "connection to " + base + " lost: " + message, e)
                : KeelsonException.local("TLS_FAILED", "no encrypted connection to " + base + ": " + fault, e);
    }

    private HttpRequest request(Call call) throws IOException {
        HttpRequest.Builder request = HttpRequest.newBuilder(base.resolve(base.getPath() + call.path()))
                .timeout(limit(call))
                .header("Accept", "application/json, application/problem+json, */*;q=0.1");
        if (apiKey != null) {
            request.header("Authorization", "Bearer " + apiKey);
        }
        call.headers().forEach(request::header);
        if (call.file() != null) {
            return request.method(call.method(), BodyPublishers.ofFile(call.file())).build();
        }
        if (call.body() == null) {
            return request.method(call.method(), BodyPublishers.noBody()).build();
        }
        return request.header("Content-Type", "application/json")
                .method(call.method(), BodyPublishers.ofByteArray(Json.bytes(call.body())))
                .build();
    }

    /** An error's body may be anything (a proxy's page); a good answer must be JSON. */
    private JsonNode parse(int status, byte[] body) {
        if (body.length == 0) {
            return Json.object();
        }
        try {
            return Json.parse(body);
        } catch (JacksonException e) {
            if (status >= 400) {
                return Json.object();
            }
            throw KeelsonException.local("BAD_ANSWER", base + " answered something that is not JSON", e);
        }
    }

    private static @Nullable Duration retryAfter(HttpResponse<?> answer) {
        return answer.headers().firstValue("Retry-After")
                .filter(value -> value.matches("\\d{1,6}"))
                .map(value -> Duration.ofSeconds(Long.parseLong(value)))
                .orElse(null);
    }

    static void pause(Duration delay) {
        try {
            Thread.sleep(delay.toMillis());
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static KeelsonException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return KeelsonException.local("INTERRUPTED", INTERRUPTED, e);
    }

    private interface Exchange<T> {
        T run(Call call);
    }

    private interface Reader<T> {
        T read(HttpResponse<InputStream> answer) throws IOException;
    }
}
