package io.keelson.server.api.http.support;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.store.IdempotencyKeys;
import io.keelson.server.engine.store.IdempotencyKeys.StoredAnswer;
import io.keelson.server.engine.store.IdempotencyKeys.Used;
import io.keelson.server.engine.store.KeyUse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The header {@code Idempotency-Key}: for 24 hours, a repeated request under the same key gets the
 * first answer and changes nothing. If the first one is still in progress, the repeated one waits for its answer. The transaction of the request also stores the key, so no crash separates them. A refused
 * request does not consume its key.
 */
public final class Idempotency {

    public static final String HEADER = "Idempotency-Key";
    public static final String REPLAYED = "Idempotent-Replayed";

    /** How long a repeated request waits for the answer to the first one. Shorter than the timeout of clients and proxies. */
    public static final Duration MAX_WAIT = Duration.ofSeconds(10);

    private static final int MAX_LENGTH = 255;
    private static final String API = "/api/v1";
    private static final Pattern ID =
            Pattern.compile("/(?:[a-z]+_)?([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"
                    + "(?=/|$)");

    /**
     * The idempotency key of a request.
     *
     * @param repeated true if the request was executed before: only its response is repeated
     */
    public record Keyed(KeyUse use, boolean repeated) {

        /** The id of the run to create: under a used key, the run that the first request created. */
        public UUID runOr(UUID fresh) {
            UUID made = repeated ? use.run() : null;
            return made == null ? fresh : made;
        }
    }

    private final Database database;
    private final IdempotencyKeys keys;
    private final KeysInUse inUse = new KeysInUse(MAX_WAIT);

    public Idempotency(Database database, IdempotencyKeys keys) {
        this.database = database;
        this.keys = keys;
    }

    /** Executes the action once per key; a request without a key is executed directly. */
    public ApiResponse answer(ApiRequest request, Action action) throws IOException, InterruptedException {
        String key = request.header(HEADER);
        if (key == null) {
            return action.answer(request);
        }
        if (request.headers(HEADER) > 1) {
            throw ApiProblem.of(ErrorCode.INVALID_PARAMETER, HEADER + " must occur only once").with("parameter",
                    HEADER);
        }
        if (key.isBlank() || key.length() > MAX_LENGTH) {
            throw ApiProblem.of(ErrorCode.INVALID_PARAMETER, HEADER + " must have 1 to " + MAX_LENGTH + " characters")
                    .with("parameter", HEADER);
        }
        return answer(request, endpoint(request), key, RequestHash.of(request), action);
    }

    /**
     * Executes a request whose body contains the idempotency key.
     *
     * @param endpoint scope of the key
     * @param key of 1 to 255 characters
     * @param hash the same for equal requests
     */
    public ApiResponse answer(ApiRequest request, String endpoint, String key, String hash, Action action)
            throws IOException, InterruptedException {
        KeyUse use = new KeyUse(new KeyUse.Id(request.workspace(), endpoint, key), hash, null);
        try (KeysInUse.Use _ = inUse.begin(use)) {
            return once(request, action, use);
        }
    }

    /** The refusal of a repeated request that has waited in vain. */
    public static ApiProblem inFlight(String message) {
        return ApiProblem.of(ErrorCode.IDEMPOTENCY_IN_FLIGHT, message).header("Retry-After", "1");
    }

    private ApiResponse once(ApiRequest request, Action action, KeyUse use) throws IOException, InterruptedException {
        Optional<Used> known = known(use);
        if (known.isEmpty()) {
            try {
                request.keyed(new Keyed(use, false));
                return noted(use, action.answer(request));
            } catch (CompletionException e) {
                if (!(e.getCause() instanceof Commands.KeyUsed)) {
                    throw e;
                }
                known = known(use);
            } catch (Commands.KeyUsed e) {
                known = known(use);
            } catch (ApiProblem problem) {
                // Another server may have executed the request; then this refusal is a consequence of it.
                known = known(use);
                if (known.isEmpty()) {
                    throw problem;
                }
            }
        }
        return again(request, action, use, known.orElseThrow());
    }

    private ApiResponse again(ApiRequest request, Action action, KeyUse use, Used known)
            throws IOException, InterruptedException {
        if (!known.requestHash().equals(use.requestHash())) {
            ApiProblem problem = ApiProblem.of(ErrorCode.IDEMPOTENCY_KEY_CONFLICT,
                    "the key was used for another request within the last 24 hours");
            throw known.run() == null ? problem : problem.with("run_id", known.run().toString());
        }
        StoredAnswer stored = known.answer();
        if (stored != null) {
            return replayed(stored);
        }
        request.keyed(new Keyed(new KeyUse(use.id(), use.requestHash(), known.run()), true));
        ApiResponse response = noted(use, action.answer(request));
        return response.as(again(response.status())).header(REPLAYED, "true");
    }

    private Optional<Used> known(KeyUse use) {
        return database.withConnection(c -> keys.find(c, use.id()));
    }

    private ApiResponse noted(KeyUse use, ApiResponse response) {
        if (response.status() / 100 == 2) {
            StoredAnswer stored = stored(response);
            database.<@Nullable Object>withConnection(c -> {
                keys.answeredLater(c, use, stored);
                return null;
            });
        }
        return response;
    }

    static StoredAnswer stored(ApiResponse response) {
        return new StoredAnswer(response.status(), response.headers().get("Location"), body(response));
    }

    private static @Nullable String body(ApiResponse response) {
        return response.content() instanceof ApiResponse.Content.Document document
                ? new String(Json.write(document.json()), StandardCharsets.UTF_8)
                : null;
    }

    private static ApiResponse replayed(StoredAnswer stored) {
        String body = stored.body();
        int status = again(stored.status());
        ApiResponse response = body == null ? ApiResponse.empty(status)
                : ApiResponse.json(status, Json.read(body.getBytes(StandardCharsets.UTF_8)));
        response = response.header(REPLAYED, "true");
        return stored.location() == null ? response : response.header("Location", stored.location());
    }

    /** Nothing is created by a repetition. */
    private static int again(int status) {
        return status == 201 ? 200 : status;
    }

    /** One for all forms of an id. */
    private static String endpoint(ApiRequest request) {
        String path = ID.matcher(request.path()).replaceAll(id -> "/" + id.group(1).toLowerCase(Locale.ROOT));
        return request.method() + " " + (path.startsWith(API + "/") ? path.substring(API.length()) : path);
    }
}
