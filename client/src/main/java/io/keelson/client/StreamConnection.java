package io.keelson.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The connection of a stream of server-sent events, opened for the first line and again after each loss. */
final class StreamConnection {
    private static final int NO_CONTENT = 204;

    private final Api api;
    private @Nullable InputStream body;
    private @Nullable BufferedReader lines;
    private boolean ended;

    StreamConnection(Api api) {
        this.api = api;
    }

    /** @param path of the stream, from the place where it is to go on; asked for only if the connection is closed */
    BufferedReader lines(Supplier<String> path) {
        BufferedReader open = lines;
        if (open == null) {
            HttpResponse<InputStream> answer = api.events(path.get());
            ended = answer.statusCode() == NO_CONTENT;
            body = answer.body();
            open = new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8));
            lines = open;
        }
        return open;
    }

    /** True if the server has answered the last opening with the end of the stream. */
    boolean ended() {
        return ended;
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
