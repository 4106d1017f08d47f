package io.keelson.server.annex.oidc;

import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jose.util.Resource;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.base.json.OutsideJson;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.base.outbound.OutboundRequest;
import io.keelson.server.base.outbound.OutboundResponse;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** An OpenID provider: its description, its keys and its token endpoint. Thread-safe. */
final class Provider {

    private static final String DESCRIPTION = "/.well-known/openid-configuration";
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int MAX_BYTES = 1 << 19;
    /** Time after which the description is read again. */
    private static final Duration AGE = Duration.ofMinutes(10);
    /** Time for which keys are used; an unknown key is looked for at once. */
    private static final Duration KEY_AGE = Duration.ofMinutes(5);
    /** Time in which unknown keys are looked for twice at most. */
    private static final Duration KEY_PAUSE = Duration.ofSeconds(5);
    private static final Duration KEY_REFRESH = Duration.ofSeconds(15);
    /** Time for which the last keys are used while the provider does not answer. */
    private static final Duration OUTAGE = Duration.ofHours(4);
    private static final int OK = 200;
    private static final int SERVER_ERRORS = 500;

    private final String issuer;
    private final OutboundClient client;
    private final LongSupplier nanos;
    private final @Nullable URI givenKeys;
    private volatile @Nullable Description known;
    private volatile @Nullable JWKSource<SecurityContext> keys;

    /** @param at time of its arrival */
    private record Description(JsonNode document, long at) {}

    /** @param keys address of the keys; null for that of the description */
    Provider(String issuer, @Nullable URI keys, OutboundClient client, LongSupplier nanos) {
        this.issuer = issuer;
        this.givenKeys = keys;
        this.client = client;
        this.nanos = nanos;
    }

    String issuer() {
        return issuer;
    }

    /** An address of the description; null if the provider has no such endpoint. */
    @Nullable String endpoint(String name) {
        return description().path(name).asString(null);
    }

    /** @throws ApiProblem {@code SIGN_IN_PROVIDER_UNAVAILABLE} if the provider has no such endpoint */
    String required(String name) {
        String found = endpoint(name);
        if (found == null || !OutboundClient.understands(found)) {
            throw unavailable("its description has no usable " + name);
        }
        return found;
    }

    /** The description of the provider, which may be ten minutes old, or older while the provider does not answer. */
    JsonNode description() {
        Description last = known;
        long now = nanos.getAsLong();
        if (last != null && now - last.at < AGE.toNanos()) {
            return last.document;
        }
        try {
            JsonNode read = read();
            known = new Description(read, now);
            return read;
        } catch (ApiProblem e) {
            if (last != null) {
                return last.document;
            }
            throw e;
        }
    }

    private JsonNode read() {
        OutboundResponse answer = send(new OutboundRequest("GET", issuer.replaceAll("/+$", "") + DESCRIPTION,
                Map.of("Accept", "application/json"), null, TIMEOUT, MAX_BYTES));
        if (answer.status() != OK) {
            throw unavailable("its description is answered with " + answer.status());
        }
        JsonNode document = json(answer);
        if (!document.path("issuer").asString("").equals(issuer)) {
            throw ApiProblem.of(ErrorCode.TOKEN_ISSUER_WRONG,
                    "the provider calls itself otherwise than KEELSON_OIDC_ISSUER does: "
                            + document.path("issuer").asString("(no issuer)"));
        }
        return document;
    }

    /** The keys of the provider: kept for some minutes, read again for a token with an unknown key. */
    JWKSource<SecurityContext> keys() {
        return (selector, context) -> {
            try {
                return source().get(selector, context);
            } catch (IOException e) {
                throw new KeySourceException("no usable address of keys", e);
            }
        };
    }

    private synchronized JWKSource<SecurityContext> source() throws IOException {
        JWKSource<SecurityContext> source = keys;
        if (source == null) {
            URL url = (givenKeys == null ? URI.create(required("jwks_uri")) : givenKeys).toURL();
            source = JWKSourceBuilder.<SecurityContext>create(url, this::resource)
                    .cache(KEY_AGE.toMillis(), KEY_REFRESH.toMillis()).rateLimited(KEY_PAUSE.toMillis())
                    .outageTolerant(OUTAGE.toMillis()).build();
            keys = source;
        }
        return source;
    }

    private Resource resource(URL url) throws IOException {
        try {
            if (url.getProtocol().equals("file")) {
                return new Resource(Files.readString(Path.of(URI.create(url.toString()))), "application/json");
            }
            OutboundResponse answer = client.send(new OutboundRequest("GET", url.toString(),
                    Map.of("Accept", "application/json, application/jwk-set+json"), null, TIMEOUT, MAX_BYTES));
            if (answer.status() != OK) {
                throw new IOException("the keys are answered with " + answer.status());
            }
            return new Resource(new String(answer.body(), StandardCharsets.UTF_8), "application/json");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /** Answer of the token endpoint. */
    sealed interface TokenAnswer {

        /** The provider gave tokens. */
        record Granted(JsonNode document) implements TokenAnswer {}

        /** The provider refused. */
        record Refused(String error, String description) implements TokenAnswer {}
    }

    /**
     * Asks the token endpoint.
     *
     * @throws ApiProblem {@code SIGN_IN_PROVIDER_UNAVAILABLE} if it does not answer, or not as the protocol prescribes
     */
    TokenAnswer token(OidcSettings settings, Map<String, String> form) {
        Map<String, String> fields = new LinkedHashMap<>(form);
        Map<String, String> headers = new LinkedHashMap<>(Map.of("Accept", "application/json", "Content-Type",
                "application/x-www-form-urlencoded"));
        String secret = settings.clientSecret();
        if (secret == null) {
            fields.put("client_id", settings.clientId());
        } else if (basic()) {
            headers.put("Authorization", "Basic " + Base64.getEncoder().encodeToString(
                    (encode(settings.clientId()) + ":" + encode(secret)).getBytes(StandardCharsets.UTF_8)));
        } else {
            fields.put("client_id", settings.clientId());
            fields.put("client_secret", secret);
        }
        OutboundResponse answer = send(new OutboundRequest("POST", required("token_endpoint"), headers,
                form(fields).getBytes(StandardCharsets.UTF_8), TIMEOUT, MAX_BYTES));
        if (answer.status() >= SERVER_ERRORS) {
            throw unavailable("its token endpoint answers with " + answer.status());
        }
        JsonNode document = json(answer);
        return answer.status() == OK ? new TokenAnswer.Granted(document)
                : new TokenAnswer.Refused(document.path("error").asString("status " + answer.status()),
                        document.path("error_description").asString(""));
    }

    private boolean basic() {
        JsonNode methods = description().path("token_endpoint_auth_methods_supported");
        return methods.isMissingNode()
                || methods.valueStream().anyMatch(each -> each.asString("").equals("client_secret_basic"));
    }

    /** The claims that the endpoint of user information has for an access token; null if the provider has none. */
    @Nullable JsonNode userInfo(String accessToken) {
        String url = endpoint("userinfo_endpoint");
        if (url == null) {
            return null;
        }
        OutboundResponse answer = send(new OutboundRequest("GET", url,
                Map.of("Accept", "application/json", "Authorization", "Bearer " + accessToken), null, TIMEOUT,
                MAX_BYTES));
        return answer.status() == OK ? json(answer) : null;
    }

    /** The address of an endpoint with parameters. */
    static String address(String endpoint, Map<String, String> parameters) {
        return endpoint + (endpoint.contains("?") ? "&" : "?") + form(parameters);
    }

    private static String form(Map<String, String> fields) {
        return fields.entrySet().stream().map(each -> encode(each.getKey()) + "=" + encode(each.getValue()))
                .collect(Collectors.joining("&"));
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static JsonNode json(OutboundResponse answer) {
        try {
            return OutsideJson.read(answer.body());
        } catch (JacksonException e) {
            throw unavailable("it does not answer with JSON");
        }
    }

    private OutboundResponse send(OutboundRequest request) {
        try {
            return client.send(request);
        } catch (IOException e) {
            throw unavailable("it does not answer: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unavailable("the server stops");
        }
    }

    private static ApiProblem unavailable(String why) {
        return ApiProblem.of(ErrorCode.SIGN_IN_PROVIDER_UNAVAILABLE, "the identity provider cannot be used: " + why)
                .header("Retry-After", "10");
    }
}
