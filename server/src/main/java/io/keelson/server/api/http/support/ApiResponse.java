package io.keelson.server.api.http.support;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A response.
 *
 * @param content null if absent
 * @param tagged true if the response is one resource, which gets an {@code ETag} and supports conditional requests
 * @param version of the resource, which its tag begins with; empty for a resource without conditional changes
 */
public record ApiResponse(int status, @Nullable Content content, Map<String, String> headers, boolean tagged,
        String version) {

    /** The bytes of an answer. */
    public sealed interface Content {

        String type();

        /** A JSON document. */
        record Document(String type, JsonNode json) implements Content {}

        /**
         * A stream, of which {@code length} bytes are sent while they are read; -1 sends the whole stream. The sender
         * closes the stream.
         */
        record Stream(String type, long length, InputStream bytes) implements Content {}

        /** A response that is streamed until its writer returns. */
        record Live(String type, Writer writer) implements Content {}
    }

    /** Writes an answer piece by piece. */
    public interface Writer {
        void writeTo(OutputStream out) throws IOException, InterruptedException;
    }

    private static final String JSON = "application/json";
    static final String PROBLEM = "application/problem+json";

    public ApiResponse {
        headers = Map.copyOf(headers);
    }

    private ApiResponse(int status, @Nullable Content content, Map<String, String> headers, boolean tagged) {
        this(status, content, headers, tagged, "");
    }

    public static ApiResponse ok(JsonNode json) {
        return new ApiResponse(200, new Content.Document(JSON, json), Map.of(), false);
    }

    public static ApiResponse json(int status, JsonNode json) {
        return new ApiResponse(status, new Content.Document(JSON, json), Map.of(), false);
    }

    /** One resource, with an ETag; a request with the same {@code If-None-Match} gets 304. */
    public static ApiResponse resource(JsonNode json) {
        return new ApiResponse(200, new Content.Document(JSON, json), Map.of(), true);
    }

    /** One resource that clients change under the condition {@code If-Match}. */
    public static ApiResponse resource(JsonNode json, String version) {
        return new ApiResponse(200, new Content.Document(JSON, json), Map.of(), true, version);
    }

    public static ApiResponse created(String location, JsonNode json) {
        return new ApiResponse(201, new Content.Document(JSON, json), Map.of("Location", location), false);
    }

    public static ApiResponse stream(String type, long length, InputStream bytes) {
        return new ApiResponse(200, new Content.Stream(type, length, bytes), Map.of(), false);
    }

    public static ApiResponse live(String type, Writer writer) {
        return new ApiResponse(200, new Content.Live(type, writer), Map.of(), false);
    }

    static ApiResponse problem(int status, JsonNode document, Map<String, String> headers) {
        return new ApiResponse(status, new Content.Document(PROBLEM, document), headers, false);
    }

    /** A page that loads nothing, and no site can frame. Its forms name their origin, which {@code no-referrer} would hide. */
    public static ApiResponse page(int status, String html) {
        byte[] bytes = html.getBytes(StandardCharsets.UTF_8);
        return stream("text/html; charset=utf-8", bytes.length, new ByteArrayInputStream(bytes)).as(status)
                .header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
                        + "frame-ancestors 'none'; base-uri 'none'")
                .header("Cache-Control", "no-store").header("Referrer-Policy", "same-origin");
    }

    /** Sends the browser to another address. */
    public static ApiResponse redirect(String location) {
        return empty(302).header("Location", location).header("Cache-Control", "no-store");
    }

    /** Status and headers only. */
    public static ApiResponse empty(int status) {
        return new ApiResponse(status, null, Map.of(), false);
    }

    /** This response with another status. */
    public ApiResponse as(int other) {
        return new ApiResponse(other, content, headers, tagged, version);
    }

    public ApiResponse header(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new ApiResponse(status, content, more, tagged, version);
    }
}
