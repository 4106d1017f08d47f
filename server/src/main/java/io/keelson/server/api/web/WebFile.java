package io.keelson.server.api.web;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/**
 * One file of the dashboard with all headers of its response except the headers of the encoding.
 *
 * @param bytes the content
 * @param gzip the compressed content
 */
public record WebFile(byte[] bytes, byte[] gzip, Map<String, String> headers) {

    static WebFile of(byte[] bytes, Map<String, String> headers) {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream(bytes.length / 3 + 64);
        try (GZIPOutputStream stream = new GZIPOutputStream(compressed)) {
            stream.write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new WebFile(bytes, compressed.toByteArray(), Map.copyOf(headers));
    }
}
