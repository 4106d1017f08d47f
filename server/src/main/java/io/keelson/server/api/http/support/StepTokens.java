package io.keelson.server.api.http.support;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.store.queue.GatewayTokens;
import io.keelson.server.engine.store.queue.GatewayTokens.Found;
import org.jspecify.annotations.Nullable;

/** Finds the lease of a request's token, for the mounts below {@code /gateway}. */
public final class StepTokens {
    private static final int UNAUTHORIZED = 401;
    private static final int CONFLICT = 409;

    private final Database database;
    private final GatewayTokens tokens = new GatewayTokens(DbClock.DATABASE);

    public StepTokens(Database database) {
        this.database = database;
    }

    /** The token opens nothing. */
    public static final class RefusedException extends Exception {
        private static final long serialVersionUID = 1L;

        private final int status;
        private final String code;

        RefusedException(int status, String code, String message) {
            super(message, null, false, false);
            this.status = status;
            this.code = code;
        }

        /** The status of HTTP. */
        public int status() {
            return status;
        }

        /** Stable, in lower case. */
        public String code() {
            return code;
        }
    }

    /**
     * The lease, which lasts.
     *
     * @throws RefusedException {@code token_required}, {@code invalid_token}, {@code step_ended} or {@code parked}
     */
    public Found of(MountedRequest request) throws RefusedException {
        String token = token(request);
        if (token == null) {
            throw new RefusedException(UNAUTHORIZED, "token_required",
                    "the gateway needs the step's token as bearer or as x-api-key");
        }
        Found found = database.withConnection(c -> tokens.find(c, token)).orElseThrow(
                () -> new RefusedException(UNAUTHORIZED, "invalid_token", "the gateway does not know this token"));
        if (found.parked()) {
            throw new RefusedException(CONFLICT, "parked",
                    "the step waits: end the program, it is started again with the answer");
        }
        if (!found.held()) {
            throw new RefusedException(UNAUTHORIZED, "step_ended",
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
