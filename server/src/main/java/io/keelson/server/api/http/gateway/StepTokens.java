package io.keelson.server.api.http.gateway;

import io.keelson.server.api.http.support.MountedRequest;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.store.queue.GatewayTokens;
import io.keelson.server.engine.store.queue.GatewayTokens.Found;
import org.jspecify.annotations.Nullable;

/** Finds the lease of a request's token, for the mounts below {@code /gateway}. */
public final class StepTokens {
    /** The beginning of each API key. */
    private static final String API_KEY = "kl_";
    private static final int UNAUTHORIZED = 401;
    private static final int CONFLICT = 409;

    private final Database database;
    private final GatewayTokens tokens = new GatewayTokens(DbClock.DATABASE);

    public StepTokens(Database database) {
        this.database = database;
    }

    /**
     * The lease, which lasts.
     *
     * @throws GatewayError {@code token_required}, {@code invalid_token}, {@code step_ended} or {@code parked}
     */
    public Found of(MountedRequest request) throws GatewayError {
        String token = token(request);
        if (token == null) {
            throw new GatewayError(UNAUTHORIZED, "token_required",
                    "the gateway needs the step's token as bearer or as x-api-key");
        }
        Found found = database.withConnection(c -> tokens.find(c, token)).orElseThrow(
                () -> new GatewayError(UNAUTHORIZED, "invalid_token", token.startsWith(API_KEY)
                        ? "the gateway takes no API key: use the token of a step, which programs of `keelson worker` have as"
                                + " OPENAI_API_KEY, ANTHROPIC_API_KEY and KEELSON_STEP_TOKEN"
                        : "the gateway does not know this token"));
        if (found.parked()) {
            throw new GatewayError(CONFLICT, "parked",
                    "the step waits: end the program, it is started again with the answer");
        }
        if (!found.held()) {
            throw new GatewayError(UNAUTHORIZED, "step_ended",
                    "the step has ended or has lost its lease: nothing was sent");
        }
        request.admit();
        return found;
    }

    private static @Nullable String token(MountedRequest request) {
        String bearer = request.bearer();
        String key = bearer == null ? request.header("x-api-key") : bearer;
        return key == null || key.isBlank() ? null : key.strip();
    }
}
