package io.keelson.server.api.http.support;

import io.javalin.http.Context;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The cookie of a session: {@code keelson_PORT_WORKSPACE}, because cookies know no ports, and {@code __Host-keelson_WORKSPACE}
 * at an address with https. Scripts cannot read it, and other sites' requests do not have it.
 */
public final class SessionCookie {

    private static final String NAME = "keelson_";
    private static final String SECURE_NAME = "__Host-" + NAME;

    private final @Nullable URI publicUrl;

    /** @param publicUrl where browsers find the server; null for where it listens */
    public SessionCookie(@Nullable URI publicUrl) {
        this.publicUrl = publicUrl;
    }

    /** The tokens that the request's cookies of this server have, by workspace. */
    Map<String, String> tokens(Context context) {
        if (context.header("Cookie") == null) {
            return Map.of();
        }
        String prefix = prefix(context);
        Map<String, String> tokens = new LinkedHashMap<>();
        context.cookieMap().forEach((name, value) -> {
            if (name.startsWith(prefix)) {
                tokens.put(name.substring(prefix.length()), value);
            }
        });
        return tokens;
    }

    /** The header that makes the browser keep a token. */
    public String set(ApiRequest request, String workspace, String token, Duration lifetime) {
        return prefix(request.context()) + workspace + "=" + token + "; Path=/; Max-Age=" + lifetime.toSeconds()
                + "; HttpOnly; SameSite=Strict" + (secure(request.context()) ? "; Secure" : "");
    }

    /** The header that makes the browser forget its token. */
    public String forget(ApiRequest request, String workspace) {
        return set(request, workspace, "", Duration.ZERO);
    }

    /** The address at which the browser or program that asks has reached the server, without a trailing slash. */
    public String origin(ApiRequest request) {
        return origin(request.context());
    }

    String origin(Context context) {
        return (secure(context) ? "https://" : "http://") + host(context);
    }

    private String prefix(Context context) {
        return secure(context) ? SECURE_NAME : NAME + port(host(context)) + "_";
    }

    private boolean secure(Context context) {
        return publicUrl != null && "https".equals(publicUrl.getScheme())
                && publicUrl.getAuthority().equalsIgnoreCase(host(context));
    }

    private static String host(Context context) {
        String host = context.header("Host");
        return host == null ? "" : host.toLowerCase(Locale.ROOT);
    }

    private static String port(String host) {
        int colon = host.lastIndexOf(':');
        return colon < 0 || host.endsWith("]") ? "80" : host.substring(colon + 1);
    }
}
