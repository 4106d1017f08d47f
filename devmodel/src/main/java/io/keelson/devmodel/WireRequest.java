package io.keelson.devmodel;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A request of HTTP/1.1, read whole.
 *
 * @param path without its query
 * @param headers names in lower case; several headers of one name are joined by commas
 */
record WireRequest(String method, String path, Map<String, String> headers, byte[] body) {

    private static final int MAX_HEADER_BYTES = 1 << 16;
    private static final int MAX_BODY_BYTES = 1 << 25;

    /**
     * @param proceed sends {@code 100 Continue} to a client that waits for it
     * @return null where the client has closed the connection instead of sending a request
     * @throws BadRequestException where it is no request, or too large
     */
    static @Nullable WireRequest read(InputStream in, Runnable proceed) throws IOException, BadRequestException {
        String first = line(in);
        if (first == null) {
            return null;
        }
        String[] words = first.split(" ", -1);
        if (words.length != 3 || !words[2].startsWith("HTTP/1.")) {
            throw new BadRequestException("this is no request of HTTP/1.1");
        }
        Map<String, String> headers = new TreeMap<>();
        int bytes = 0;
        for (String line = line(in); line != null && !line.isEmpty(); line = line(in)) {
            int colon = line.indexOf(':');
            bytes += line.length();
            if (colon < 1 || bytes > MAX_HEADER_BYTES) {
                throw new BadRequestException("the request's headers cannot be read");
            }
            headers.merge(line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip(),
                    (one, other) -> one + ", " + other);
        }
        if (headers.getOrDefault("expect", "").equalsIgnoreCase("100-continue")) {
            proceed.run();
        }
        String target = words[1];
        int query = target.indexOf('?');
        return new WireRequest(words[0], query < 0 ? target : target.substring(0, query), headers, body(in, headers));
    }

    boolean keepsAlive() {
        return !headers.getOrDefault("connection", "").toLowerCase(Locale.ROOT).contains("close");
    }

    private static byte[] body(InputStream in, Map<String, String> headers) throws IOException, BadRequestException {
        if (!headers.getOrDefault("transfer-encoding", "").equalsIgnoreCase("chunked")) {
            return bytes(in, number(headers.getOrDefault("content-length", "0"), 10));
        }
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        int size;
        do {
            size = number(String.valueOf(line(in)).replaceFirst(";.*", "").strip(), 16);
            body.writeBytes(bytes(in, size));
            if (body.size() > MAX_BODY_BYTES) {
                throw tooLarge();
            }
            line(in);
        } while (size > 0);
        return body.toByteArray();
    }

    private static int number(String text, int radix) throws BadRequestException {
        try {
            int number = Integer.parseInt(text, radix);
            if (number >= 0 && number <= MAX_BODY_BYTES) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw new BadRequestException("the length of the request's body cannot be read");
        }
        throw tooLarge();
    }

    private static BadRequestException tooLarge() {
        return new BadRequestException(413, "a request has at most " + MAX_BODY_BYTES + " bytes");
    }

    private static byte[] bytes(InputStream in, int size) throws IOException {
        byte[] bytes = in.readNBytes(size);
        if (bytes.length < size) {
            throw new IOException("the client closed the connection within its request");
        }
        return bytes;
    }

    /** Null at the end of the stream. */
    private static @Nullable String line(InputStream in) throws IOException, BadRequestException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        int next = in.read();
        if (next < 0) {
            return null;
        }
        for (; next >= 0 && next != '\n'; next = in.read()) {
            if (line.size() > MAX_HEADER_BYTES) {
                throw new BadRequestException("a line of the request is too long");
            }
            line.write(next);
        }
        return line.toString(StandardCharsets.ISO_8859_1).stripTrailing();
    }
}
