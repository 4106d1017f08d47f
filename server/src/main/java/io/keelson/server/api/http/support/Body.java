package io.keelson.server.api.http.support;

import io.keelson.core.plan.PlanProblem;
import io.keelson.server.base.compute.Computation;
import io.keelson.server.base.json.DocumentMemory;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import jakarta.servlet.http.HttpServletRequest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.databind.JsonNode;

/**
 * The body of a request, read once and never further than the limit. {@link #close} releases its memory. A call that
 * waits releases the memory before the wait.
 */
public final class Body implements AutoCloseable {

    private static final int BUFFER_SIZE = 16 << 10;
    private static final UUID NO_WORKSPACE = new UUID(0, 0);

    /** The parser's name of a source that it does not show. */
    private static final Pattern SOURCE =
            Pattern.compile(" \\(start marker at \\[[^]]*\\]\\)|: enable `.*", Pattern.DOTALL);

    private final HttpServletRequest request;
    private final InputStream content;
    private final int maxBytes;
    private final DocumentMemory.Share memory;
    private final @Nullable UUID workspace;
    private final Computation computation;
    private byte @Nullable [] bytes;

    /**
     * @param content the request's, as it arrives
     * @param workspace of the caller; null for an open route
     */
    public Body(HttpServletRequest request, InputStream content, int maxBytes, DocumentMemory memory,
            @Nullable UUID workspace,
            Computation computation) {
        this.request = request;
        this.content = content;
        this.maxBytes = maxBytes;
        this.memory = memory.share(workspace, Duration.ZERO);
        this.workspace = workspace;
        this.computation = computation;
    }

    /** Counts the memory of a body that is not read yet for a workspace: the path names it, and its caller is unknown. */
    public void assign(UUID owner) {
        memory.assign(owner);
    }

    /** The bytes as they come; who reads them bounds them. */
    InputStream stream() {
        return content;
    }

    /** The bytes, empty when there is no body. */
    public byte[] bytes() throws IOException {
        return bytes(maxBytes);
    }

    /**
     * The bytes, empty when there is no body.
     *
     * @param most greatest number of bytes, instead of that of other bodies
     */
    public byte[] bytes(int most) throws IOException {
        if (bytes == null) {
            if (request.getContentLengthLong() > most) {
                throw tooLarge(most);
            }
            bytes = read(content, most);
        }
        return bytes;
    }

    private byte[] read(InputStream source, int most) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] piece = new byte[BUFFER_SIZE];
        for (int length = source.read(piece); length >= 0; length = source.read(piece)) {
            memory.take(length);
            all.write(piece, 0, length);
            if (all.size() > most) {
                throw tooLarge(most);
            }
        }
        return all.toByteArray();
    }

    /** Does the request's work: its readings of documents take their memory with the body's. */
    public <T, X extends Throwable> T within(ScopedValue.CallableOp<T, X> work) throws X {
        return memory.within(work);
    }

    /** Gives the memory back before the request ends, for a call that waits; returns how much it was. */
    public long release() {
        bytes = null;
        return memory.giveBackAll();
    }

    @Override
    public void close() {
        memory.close();
        bytes = null;
    }

    /** The document, an empty object when there is no body. */
    JsonNode json() throws IOException {
        byte[] document = bytes();
        if (document.length == 0) {
            return Json.object();
        }
        requireType("application/json");
        return parsed(document);
    }

    /**
     * The document, for any media type of the request; an empty object when there is no body.
     *
     * @param most greatest number of bytes
     */
    public JsonNode document(int most) throws IOException {
        byte[] document = bytes(most);
        return document.length == 0 ? Json.object() : parsed(document);
    }

    private static JsonNode parsed(byte[] document) {
        try {
            return OutsideJson.readStrict(document);
        } catch (JacksonException e) {
            throw malformed(e);
        }
    }

    /** Runs the work on the tenants' compute pool, for the caller's workspace. */
    public <T> T computed(ScopedValue.CallableOp<T, RuntimeException> work) throws InterruptedIOException {
        try {
            return computation.run(() -> new Computation.Owner(workspace == null ? NO_WORKSPACE : workspace, null),
                    work);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException(e.getMessage());
        }
    }

    /** Media type without parameters, lower case; empty when the request names none. */
    public String type() {
        String type = request.getContentType() == null ? "" : request.getContentType();
        int end = type.indexOf(';');
        return (end < 0 ? type : type.substring(0, end)).strip().toLowerCase(Locale.ROOT);
    }

    /** Refuses a body of another type, character encoding or compression. */
    public void requireType(String... types) {
        String accepted = String.join(" or ", types);
        if (!List.of(types).contains(type())) {
            throw unsupported("the body must be " + accepted + ": send it with the header Content-Type: " + types[0]);
        }
        String charset = request.getCharacterEncoding();
        if (charset != null && !charset.equalsIgnoreCase("utf-8")) {
            throw unsupported("the body must be UTF-8, not " + Excerpt.piece(charset));
        }
        String encoding = request.getHeader("Content-Encoding");
        if (encoding != null && !encoding.equalsIgnoreCase("identity")) {
            throw unsupported("the body must not be compressed");
        }
    }

    private static ApiProblem unsupported(String detail) {
        return ApiProblem.of(ErrorCode.UNSUPPORTED_MEDIA_TYPE, detail);
    }

    private static ApiProblem tooLarge(int most) {
        return ApiProblem.of(ErrorCode.BODY_TOO_LARGE, "a body may have at most " + most + " bytes");
    }

    private static ApiProblem malformed(JacksonException e) {
        if (e instanceof Json.NumberException number) {
            return ApiProblem
                    .of(List.of(new PlanProblem("MALFORMED_JSON", number.pointer(), number.getOriginalMessage())));
        }
        if (e instanceof StreamConstraintsException) {
            return ApiProblem.of(ErrorCode.BODY_TOO_LARGE, Excerpt.firstLine(e.getOriginalMessage()));
        }
        TokenStreamLocation at = e.getLocation();
        String place = at == null || at.getLineNr() < 1 ? ""
                : " (line " + at.getLineNr() + ", column " + at.getColumnNr() + ")";
        return ApiProblem.of(ErrorCode.MALFORMED_JSON,
                Excerpt.firstLine(SOURCE.matcher(e.getOriginalMessage()).replaceAll("")) + place);
    }
}
