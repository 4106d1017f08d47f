package io.keelson.server.work.builtin;

import io.keelson.server.base.outbound.OutboundRequest;
import io.keelson.server.base.outbound.OutboundResponse;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import okhttp3.HttpUrl;

/** The request that follows a redirect. Headers of the caller, which may hold credentials, are sent to the first origin only. */
final class Redirects {

    private static final Set<Integer> STATUSES = Set.of(301, 302, 303, 307, 308);
    private static final Set<String> HARMLESS = Set.of("accept", "accept-language", "content-type", "user-agent");

    private Redirects() {}

    /** Whether the response is a redirect. */
    static boolean isRedirect(OutboundResponse response) {
        return STATUSES.contains(response.status()) && response.header("location") != null;
    }

    /**
     * The request unchanged but for its place, its headers when the origin changes,
     * and its method after 301 to 303.
     *
     * @throws IOException if the target is not an http URL, or if it leads from an encrypted to a plain one
     */
    static OutboundRequest next(OutboundRequest request, OutboundResponse response) throws IOException {
        HttpUrl from = Objects.requireNonNull(HttpUrl.parse(request.url()));
        HttpUrl to = from.resolve(Objects.requireNonNull(response.header("location")));
        if (to == null || from.isHttps() && !to.isHttps()) {
            throw new IOException("the redirect target is not an http URL, or leads from https to http");
        }
        boolean sameOrigin =
                from.scheme().equals(to.scheme()) && from.host().equals(to.host()) && from.port() == to.port();
        boolean get = response.status() <= 303 && !request.method().equals("HEAD");
        Map<String, String> headers = new LinkedHashMap<>(request.headers());
        headers.keySet().removeIf(name -> !sameOrigin && !HARMLESS.contains(name.toLowerCase(Locale.ROOT))
                || get && name.equalsIgnoreCase("content-type"));
        return new OutboundRequest(get ? "GET" : request.method(), to.toString(), headers, get ? null : request.body(),
                request.timeout(), request.maxBytes());
    }
}
