package io.keelson.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The connection of a stream of server-sent events, opened for the first line and again after each loss. */
final class StreamConnection {
    private final Api api;
    private @Nullable InputStream body;
    private @Nullable BufferedReader lines;

    StreamConnection(Api api) {
        this.api = api;
    }

    /** @param path of the stream, from the place where it is to go on; asked for only if the connection is closed */
    BufferedReader lines(Supplier<String> path) {
        BufferedReader open = lines;
        if (open == null) {
            body = api.stream(path.get());
            open = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
            lines = open;
        }
        return open;
    }

    /** Closes it, from any thread. */
    void close() {
        lines = null;
        try (InputStream open = body) {
            body = null;
        } catch (IOException e) {
            // it is gone, which was the aim
        }
    }
}
