package io.keelson.server.annex.mcp.wire;

import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import io.keelson.server.base.process.InteractiveProcess;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A server in a process of its own: a message is a line. Its process ends with the transport, and the transport with its
 * process. Bounds each line, and the number of unasked messages.
 */
final class StdioTransport implements Transport {
    /** Maximum bytes of a line of its standard error; the rest is left out. */
    private static final int MAX_ERROR_LINE = 2_000;
    /** Messages without a request of ours in a row, after which the server counts as broken. */
    private static final int MAX_UNASKED = 100_000;
    /** Their bytes, likewise. */
    private static final long MAX_UNASKED_BYTES = 64L << 20;
    private static final int MAX_QUEUED = 1_000;
    /** Bytes of messages that the process has not read. */
    private static final long MAX_QUEUED_BYTES = 64L << 20;
    private static final byte[] END = {};

    private final InteractiveProcess process;
    private final Consumer<String> errors;
    private final AtomicLong ids = new AtomicLong();
    private final Map<Long, CompletableFuture<JsonNode>> waiting = new ConcurrentHashMap<>();
    private final BlockingQueue<byte[]> outgoing = new LinkedBlockingQueue<>(MAX_QUEUED);
    private final AtomicLong queuedBytes = new AtomicLong();
    private final AtomicBoolean changed = new AtomicBoolean();
    /** Why it carries nothing any more. */
    private volatile @Nullable String ended;

    /** @param errors takes each line that the process writes to its standard error, and what it writes to its output that is no message */
    StdioTransport(InteractiveProcess process, Consumer<String> errors) {
        this.process = process;
        this.errors = errors;
        thread("mcp-read", this::read);
        thread("mcp-write", this::write);
        thread("mcp-errors", this::readErrors);
    }

    private static void thread(String name, Runnable work) {
        Thread.ofPlatform().daemon().name(name).start(work);
    }

    @Override
    public JsonNode request(String method, ObjectNode params, Map<String, String> headers, Duration timeout)
            throws McpException, InterruptedException {
        long id = ids.incrementAndGet();
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        waiting.put(id, answer);
        try {
            send(JsonRpc.request(id, method, params));
            JsonNode result = answer.get(Math.max(1, timeout.toMillis()), TimeUnit.MILLISECONDS);
            OutsideJson.reserveGrown(result, 0);
            return result;
        } catch (InterruptedException e) {
            cancel(id);
            throw e;
        } catch (TimeoutException e) {
            cancel(id);
            throw McpException.late("no answer within " + timeout.toMillis() + " ms");
        } catch (ExecutionException e) {
            throw e.getCause() instanceof McpException known ? known : McpException.lost(String.valueOf(e.getCause()));
        } finally {
            waiting.remove(id);
        }
    }

    private void cancel(long id) {
        queued(line(JsonRpc.notification("notifications/cancelled", Json.object().put("requestId", id))));
    }

    @Override
    public void notify(String method, ObjectNode params, Map<String, String> headers, Duration timeout)
            throws McpException {
        send(JsonRpc.notification(method, params));
    }

    private void send(ObjectNode message) throws McpException {
        String why = ended;
        if (why != null) {
            throw McpException.unreachable(why);
        }
        byte[] line = line(message);
        if (line.length > MAX_MESSAGE) {
            throw McpException.forbidden("MCP_MESSAGE_TOO_LARGE",
                    "the request has more than " + MAX_MESSAGE + " bytes");
        }
        if (!queued(line)) {
            throw McpException.unreachable("the server does not read its input");
        }
        if (ended != null) {
            end(String.valueOf(ended));
        }
    }

    /** False where the process has too much to read already. */
    private boolean queued(byte[] line) {
        if (queuedBytes.addAndGet(line.length) <= MAX_QUEUED_BYTES && outgoing.offer(line)) {
            return true;
        }
        queuedBytes.addAndGet(-line.length);
        return false;
    }

    private static byte[] line(ObjectNode message) {
        return (message + "\n").getBytes(StandardCharsets.UTF_8);
    }

    private void write() {
        try (OutputStream out = process.input()) {
            for (byte[] line = outgoing.take(); line != END; line = outgoing.take()) {
                out.write(line);
                out.flush();
                queuedBytes.addAndGet(-line.length);
            }
        } catch (IOException e) {
            end("the server's process has ended");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void read() {
        int unasked = 0;
        long bytes = 0;
        try (InputStream in = new BufferedInputStream(process.output(), 1 << 16)) {
            for (byte[] line = next(in); line != null; line = next(in)) {
                boolean answer = received(line);
                unasked = answer ? 0 : unasked + 1;
                bytes = answer ? 0 : bytes + line.length;
                if (unasked > MAX_UNASKED || bytes > MAX_UNASKED_BYTES) {
                    end("the server sent " + MAX_UNASKED + " unasked messages in a row, or "
                            + MAX_UNASKED_BYTES + " bytes of them");
                    return;
                }
            }
            end("the server's process has ended");
        } catch (IOException e) {
            end(e.getMessage() == null ? "the server's process has ended" : e.getMessage());
        } catch (RuntimeException e) {
            end("a message of the server cannot be read: " + e.getMessage());
        }
    }

    private static byte @Nullable [] next(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int one = in.read(); one >= 0; one = in.read()) {
            if (one == '\n') {
                return line.toByteArray();
            }
            if (line.size() >= MAX_MESSAGE) {
                throw new IOException("the server sent a message of more than " + MAX_MESSAGE + " bytes");
            }
            line.write(one);
        }
        return null;
    }

    /** True for the answer to a request of ours. */
    private boolean received(byte[] line) {
        JsonNode message;
        try {
            message = message(line);
        } catch (StreamConstraintsException e) {
            CompletableFuture<JsonNode> answer = waiting.get(JsonRpc.id(line));
            return answer != null && answer.completeExceptionally(McpException.outOfBounds(e));
        }
        if (message == null) {
            errors.accept("no message on standard output: "
                    + new String(line, 0, Math.min(line.length, MAX_ERROR_LINE), StandardCharsets.UTF_8));
            return false;
        }
        if (message.has("method")) {
            asked(message);
            return false;
        }
        CompletableFuture<JsonNode> answer = waiting.get(Answers.answered(message));
        if (answer == null) {
            return false;
        }
        Answers.settle(message, answer);
        return true;
    }

    /** Null for a line that is no message of the protocol. */
    private static @Nullable JsonNode message(byte[] line) {
        try {
            JsonNode document = OutsideJson.readPassing(line);
            return Answers.isMessage(document) ? document : null;
        } catch (StreamConstraintsException e) {
            throw e;
        } catch (JacksonException e) {
            return null;
        }
    }

    /** A server's own request or notification. Neither sampling nor roots nor questions over an open connection are served. */
    private void asked(JsonNode message) {
        String method = message.path("method").asString("");
        if (method.equals("notifications/tools/list_changed")) {
            changed.set(true);
        }
        if (message.has("id")) {
            queued(line(Answers.toServer(message)));
        }
    }

    private void readErrors() {
        try (InputStream in = new BufferedInputStream(process.errors(), 1 << 13)) {
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            for (int one = in.read(); one >= 0; one = in.read()) {
                if (one == '\n') {
                    errors.accept(line.toString(StandardCharsets.UTF_8));
                    line.reset();
                } else if (line.size() < MAX_ERROR_LINE) {
                    line.write(one);
                }
            }
            if (line.size() > 0) {
                errors.accept(line.toString(StandardCharsets.UTF_8));
            }
        } catch (IOException e) {
            // the process has ended
        }
    }

    private void end(String why) {
        if (ended == null) {
            ended = why;
        }
        endWriting();
        waiting.values().forEach(each -> each.completeExceptionally(McpException.lost(why)));
        Thread.ofVirtual().start(process::close);
    }

    @Override
    public boolean usable() {
        return ended == null;
    }

    @Override
    public boolean toolsChanged() {
        return changed.getAndSet(false);
    }

    @Override
    public void close() {
        if (ended == null) {
            ended = "this server has ended the process";
        }
        waiting.values().forEach(each -> each.completeExceptionally(McpException.lost(String.valueOf(ended))));
        endWriting();
        process.close();
    }

    /** Ends the writing thread, also where others fill the queue meanwhile. */
    private void endWriting() {
        do {
            outgoing.clear();
        } while (!outgoing.offer(END));
    }
}
