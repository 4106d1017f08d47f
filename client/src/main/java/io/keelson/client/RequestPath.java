package io.keelson.client;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Builds the path and query of a request, each part encoded. */
final class RequestPath {

    private final StringBuilder text;
    private char separator = '?';

    private RequestPath(String start) {
        this.text = new StringBuilder(start);
    }

    /** A path of fixed text and variable segments in turn: {@code of("/runs/", id, "/start")}. */
    static RequestPath of(String fixed, String... parts) {
        RequestPath route = new RequestPath(fixed);
        for (int i = 0; i < parts.length; i++) {
            route.text.append(i % 2 == 0 ? encode(parts[i]) : parts[i]);
        }
        return route;
    }

    /** Adds a query parameter, unless the value is null. */
    RequestPath with(String name, @Nullable Object value) {
        if (value != null) {
            text.append(separator).append(name).append('=').append(encode(value.toString()));
            separator = '&';
        }
        return this;
    }

    private static String encode(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
