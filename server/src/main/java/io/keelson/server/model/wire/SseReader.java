package io.keelson.server.model.wire;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Reads the data of server-sent events. Their names are left out: the data of each wire repeat them. */
final class SseReader {
    private final BufferedReader lines;

    SseReader(InputStream body) {
        this.lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
    }

    /** The data of the next whole event; null at the end of the stream. */
    @Nullable String next() throws IOException {
        StringBuilder data = new StringBuilder();
        boolean any = false;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.isEmpty() && any) {
                return data.toString();
            }
            if (line.startsWith("data:")) {
                data.append(any ? "\n" : "").append(line.substring(line.startsWith("data: ") ? 6 : 5));
                any = true;
            }
        }
        return null;
    }
}
