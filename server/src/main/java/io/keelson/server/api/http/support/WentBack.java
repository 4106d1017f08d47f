package io.keelson.server.api.http.support;

import io.javalin.http.HandlerType;
import io.keelson.api.tenant.DatabaseLoss;
import io.keelson.server.engine.history.DatabaseHistory;

/** The refusal of requests while the database lacks commits, and no operator has accepted it. */
public final class WentBack {

    /** The path below {@code /api/v1} of the request that accepts it. */
    public static final String ACCEPT = "/database/accept";

    private static final String RETRY_AFTER_SECONDS = "5";

    private WentBack() {}

    /**
     * Refuses.
     *
     * @throws ApiProblem DATABASE_WENT_BACK, if the database went back
     */
    public static void require(DatabaseHistory history) {
        DatabaseLoss loss = history.loss();
        if (loss != null) {
            throw problem(loss);
        }
    }

    /** Whether the route is refused: all changes are, but for reports about work that has begun, and the acceptance. */
    public static boolean refuses(Route route) {
        boolean reads = route.method() == HandlerType.GET || route.method() == HandlerType.HEAD;
        boolean reports = route.path().contains("/dispatch/") && !route.path().endsWith("/dispatch/claim");
        return !reads && !reports && !route.path().endsWith(ACCEPT);
    }

    /** The problem, with {@code read_after} for readers of the feed. */
    public static ApiProblem problem(DatabaseLoss loss) {
        return ApiProblem.of(ErrorCode.DATABASE_WENT_BACK, DatabaseHistory.text(loss))
                .with("read_after", Long.toString(loss.readAfter())).header("Retry-After", RETRY_AFTER_SECONDS);
    }
}
