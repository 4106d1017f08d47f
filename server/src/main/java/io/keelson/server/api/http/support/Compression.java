package io.keelson.server.api.http.support;

import io.javalin.http.Context;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/** Compresses large documents for clients that accept it. */
final class Compression {

    /** Smaller documents are sent as they are: to compress them takes longer than to send them. */
    static final int LEAST_BYTES = 8 << 10;

    private static final Pattern NOT_WANTED = Pattern.compile("q=0(\\.0{0,3})?");

    private Compression() {}

    /**
     * The bytes to send, and their headers. The tag of a resource becomes a weak one, as it is the same for both forms.
     *
     * @param bytes a JSON document
     */
    static byte[] of(Context context, byte[] bytes) throws IOException {
        if (bytes.length < LEAST_BYTES) {
            return bytes;
        }
        String vary = context.res().getHeader("Vary");
        context.header("Vary", vary == null ? "Accept-Encoding" : vary + ", Accept-Encoding");
        if (!accepted(context.header("Accept-Encoding"))) {
            return bytes;
        }
        context.header("Content-Encoding", "gzip");
        String tag = context.res().getHeader("ETag");
        if (tag != null && !tag.startsWith("W/")) {
            context.header("ETag", "W/" + tag);
        }
        ByteArrayOutputStream compressed = new ByteArrayOutputStream(bytes.length / 4);
        try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
            gzip.write(bytes);
        }
        return compressed.toByteArray();
    }

    /** Whether the header names {@code gzip} (RFC 9110 §12.5.3), and not with the weight 0; {@code *} is no name. */
    static boolean accepted(@Nullable String header) {
        return header != null && Arrays.stream(header.toLowerCase(Locale.ROOT).split(","))
                .map(coding -> List.of(coding.strip().split("\\s*;\\s*")))
                .anyMatch(coding -> coding.getFirst().equals("gzip")
                        && coding.stream().skip(1).noneMatch(weight -> NOT_WANTED.matcher(weight).matches()));
    }
}
