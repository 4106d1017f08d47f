package io.keelson.devmodel;

import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The requests and what each was billed. The file has one line of JSON for each request that has ended, in the order of their
 * ends; the newest requests are also kept in memory, in the order of their arrival. Safe for use by many threads.
 */
public final class Journal implements AutoCloseable {

    /** Requests in memory, and bytes of their bodies. */
    private static final int KEPT = 1_000;
    private static final long KEPT_BYTES = 1 << 26;
    private static final Pattern SECRET = Pattern.compile(".*(authorization|cookie|key|secret|token).*");

    private final Clock clock;
    private final @Nullable Writer file;
    private final Deque<Entry> newest = new ArrayDeque<>();
    private int requests;
    private long bytes;

    /**
     * @param path the file to which lines are appended, created if absent; null for a journal in memory only
     * @throws IOException if the file cannot be opened for writing
     */
    public Journal(Clock clock, @Nullable Path path) throws IOException {
        this.clock = clock;
        this.file = path == null ? null
                : Files.newBufferedWriter(path, StandardCharsets.UTF_8, StandardOpenOption.CREATE,
                        StandardOpenOption.APPEND);
    }

    /** One request. Its thread writes it; {@link #lines} reads it. */
    final class Entry {

        final int number;
        private final ObjectNode json;
        private final long began = System.nanoTime();
        private boolean ended;

        private Entry(int number, ObjectNode json) {
            this.number = number;
            this.json = json;
        }

        synchronized void set(String member, JsonNode value) {
            json.set(member, value);
        }

        /**
         * Writes the line; an entry that has ended stays as it is.
         *
         * @param outcome {@code whole}, {@code spoiled}, {@code cut}, {@code gone}, {@code stored} or {@code cancelled}
         */
        synchronized void end(String outcome, long bytesSent, boolean delivered) throws IOException {
            if (ended) {
                return;
            }
            ended = true;
            json.put("outcome", outcome).put("delivered", delivered).put("bytes_sent", bytesSent)
                    .put("ms", (System.nanoTime() - began) / 1_000_000);
            write(json.toString());
        }

        private synchronized String line() {
            return json.toString();
        }
    }

    /** @param wire null for a request that asks for no answer of a model */
    synchronized Entry begin(WireRequest request, @Nullable ProviderWire wire) {
        ObjectNode json = Json.object().put("request", ++requests).put("at", Json.time(clock.instant()))
                .put("method", request.method()).put("path", request.path());
        if (wire != null) {
            json.put("wire", wire.name());
        }
        ObjectNode headers = json.putObject("headers");
        request.headers().forEach((name, value) -> headers.put(name,
                SECRET.matcher(name).matches() ? "redacted" : value));
        if (request.body().length > 0) {
            body(json.put("body_bytes", request.body().length), request.body());
        }
        json.set("billed", BilledTokens.NONE.toJson());
        json.put("outcome", "open").put("delivered", false);
        Entry entry = new Entry(requests, json);
        newest.addLast(entry);
        bytes += request.body().length;
        while (newest.size() > KEPT || bytes > KEPT_BYTES) {
            bytes -= newest.removeFirst().json.path("body_bytes").asLong(0);
        }
        return entry;
    }

    private static void body(ObjectNode json, byte[] bytes) {
        try {
            JsonNode body = Json.read(bytes);
            json.put("body_sha256", sha256(Json.write(Json.canonical(body)))).set("body", body);
        } catch (JacksonException e) {
            json.put("body_sha256", sha256(bytes)).put("body_text", new String(bytes, StandardCharsets.UTF_8));
        }
    }

    private static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    private synchronized void write(String line) throws IOException {
        if (file != null) {
            file.write(line + "\n");
            file.flush();
        }
    }

    /** The newest requests, including open ones, in the order of their arrival. */
    String lines() {
        List<Entry> entries;
        synchronized (this) {
            entries = List.copyOf(newest);
        }
        return entries.stream().map(entry -> entry.line() + "\n").collect(Collectors.joining());
    }

    /** Writes the open requests. */
    @Override
    public void close() throws IOException {
        List<Entry> entries;
        synchronized (this) {
            entries = List.copyOf(newest);
        }
        for (Entry entry : entries) {
            entry.end("open", 0, false);
        }
        if (file != null) {
            file.close();
        }
    }
}
