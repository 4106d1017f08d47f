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
    private static final String PASSING = "keelsonpassing_";
    private static final String SECURE_PASSING = "__Host-keelsonpassing";

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
        return session(request.context(), workspace, token, lifetime);
    }

    /** As for a request of a route. */
    public String set(MountedRequest request, String workspace, String token, Duration lifetime) {
        return session(request.context(), workspace, token, lifetime);
    }

    private String session(Context context, String workspace, String token, Duration lifetime) {
        return prefix(context) + workspace + "=" + token + "; Path=/; Max-Age=" + lifetime.toSeconds()
                + "; HttpOnly; SameSite=Strict" + (secure(context) ? "; Secure" : "");
    }

    /**
     * The header that makes the browser keep a value while its user is at another site, from which a link leads back.
     *
     * @param value of characters that cookies may have
     */
    public String setPassing(MountedRequest request, String value, Duration lifetime) {
        return passing(request.context()) + "=" + value + "; Path=/; Max-Age=" + lifetime.toSeconds()
                + "; HttpOnly; SameSite=Lax" + (secure(request.context()) ? "; Secure" : "");
    }

    /** The value that {@link #setPassing} has left in the browser; null if absent. */
    public @Nullable String passing(MountedRequest request) {
        return request.context().cookie(passing(request.context()));
    }

    private String passing(Context context) {
        return secure(context) ? SECURE_PASSING : PASSING + port(host(context));
    }

    /** The token of the browser's session in a workspace; null if absent. */
    public @Nullable String token(MountedRequest request, String workspace) {
        return tokens(request.context()).get(workspace);
    }

    /** Refuses a request that may change something unless a browser sends it for a page of this server. */
    public void requireOwnPage(MountedRequest request) {
        if (fromElsewhere(request.context(), true)) {
            throw crossSite();
        }
    }

    static ApiProblem crossSite() {
        return ApiProblem.of(ErrorCode.CROSS_SITE_REQUEST, "a page of another site sent this request");
    }

    /**
     * Whether a browser sends it for a page of another origin. A page that only reads may have come by a link.
     *
     * @param strict refuses what does not say that it comes from a page of this server
     */
    boolean fromElsewhere(Context context, boolean strict) {
        String site = context.header("Sec-Fetch-Site");
        if (site != null) {
            return strict ? !site.equals("same-origin") : !site.equals("same-origin") && !site.equals("none");
        }
        String origin = context.header("Origin");
        return origin == null ? strict : !origin.equalsIgnoreCase(origin(context));
    }

    /** The header that makes the browser forget its token. */
    public String forget(ApiRequest request, String workspace) {
        return set(request, workspace, "", Duration.ZERO);
    }

    /** The address at which the browser or program that asks has reached the server, without a trailing slash. */
    public String origin(ApiRequest request) {
        return origin(request.context());
    }

    /** As for a request of a route. */
    public String origin(MountedRequest request) {
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
