package io.keelson.server.http;

/**
 * Every {@code code} that the API's own problem documents bear, with its HTTP status; {@code docs/errors.md} explains
 * each. Codes of single problems in a body ({@code problems[]}) are the plan reader's and {@link Fields}'.
 */
enum ErrorCode {
    MALFORMED_REQUEST(400, "The request cannot be read"),
    MALFORMED_JSON(400, "The body is not JSON"),
    INVALID_ID(400, "Not an id"),
    INVALID_PARAMETER(400, "A query parameter has a wrong value"),
    UNKNOWN_PARAMETER(400, "There is no such query parameter"),
    IDEMPOTENCY_KEY_REQUIRED(400, "The command needs an idempotency key"),
    INVALID_CURSOR(400, "Not a cursor of this list"),
    UNAUTHENTICATED(401, "An API key is required"),
    INVALID_API_KEY(401, "The API key is not valid"),
    INSUFFICIENT_CREDITS(402, "There are not enough credits"),
    WORKSPACE_MISMATCH(403, "The API key belongs to another workspace"),
    WORKSPACE_CLOSED(403, "The workspace is closed"),
    SCOPE_MISSING(403, "The API key may not be used for this"),
    ROUTE_NOT_FOUND(404, "There is no such route"),
    RUN_NOT_FOUND(404, "There is no such run"),
    TASK_NOT_FOUND(404, "There is no such task"),
    AGENT_NOT_FOUND(404, "There is no such agent"),
    SECRET_NOT_FOUND(404, "There is no such secret"),
    STEP_NOT_FOUND(404, "There is no such step"),
    RECIPE_NOT_FOUND(404, "There is no such recipe"),
    RECIPE_VERSION_NOT_FOUND(404, "The recipe has no such version"),
    SCHEDULE_NOT_FOUND(404, "There is no such schedule"),
    BULK_NOT_FOUND(404, "There is no such bulk job"),
    WEBHOOK_NOT_FOUND(404, "There is no such webhook"),
    WEBHOOK_DELIVERY_NOT_FOUND(404, "There is no such delivery"),
    COMMAND_NOT_FOUND(404, "There is no such command"),
    DEPLOYMENT_NOT_FOUND(404, "There is no such deployment"),
    ORDER_NOT_FOUND(404, "There is no such order"),
    ESCALATION_NOT_FOUND(404, "There is no such escalation"),
    INBOX_ITEM_NOT_FOUND(404, "Nothing of that kind waits for a person"),
    PROPOSAL_NOT_FOUND(404, "There is no such proposal"),
    ARTIFACT_NOT_FOUND(404, "There is no such artifact"),
    BOARD_TASK_NOT_FOUND(404, "There is no such task on the board"),
    REPORT_NOT_FOUND(404, "There is no such report"),
    LIFECYCLE_NOT_FOUND(404, "There is no such lifecycle"),
    WORKER_NOT_FOUND(404, "There is no such worker"),
    WORKSPACE_NOT_FOUND(404, "There is no such workspace"),
    API_KEY_NOT_FOUND(404, "There is no such API key"),
    METHOD_NOT_ALLOWED(405, "The route does not know this method"),
    REQUEST_TIMEOUT(408, "The request did not arrive in time"),
    INVALID_STATE_TRANSITION(409, "The state does not allow this"),
    APPROVAL_AMBIGUOUS(409, "Several approvals wait"),
    APPROVAL_ALREADY_DECIDED(409, "The approval was decided otherwise"),
    BOARD_TASK_READ_ONLY(409, "A run looks after the task"),
    NOT_AN_APPROVAL(409, "The step is not an approval"),
    GATE_CHANGED(409, "The decision is about an earlier attempt"),
    TICKET_OPEN(409, "A ticket about it waits for its answer"),
    TICKET_NOT_OPEN(409, "The ticket has been answered"),
    PROPOSAL_NOT_PENDING(409, "The proposal waits for no answer any more"),
    NO_PLANNER(409, "The run has no planner"),
    REPLANS_EXHAUSTED(409, "The run has no re-plannings left"),
    BUDGET_EXCEEDED(409, "The run's hard limit is used up"),
    BUDGET_TOO_LOW(409, "So much is charged or set aside already"),
    CHILDREN_UNBOUNDED(409, "Runs that it started have no limit"),
    BUDGET_OF_PARENT(409, "The run that started it allows it less"),
    CHILD_RUN(409, "Another run has started it"),
    RETRIES_EXHAUSTED(409, "The task has no retries left"),
    SIGNAL_NOT_AWAITED(409, "No step of the run waits for the signal"),
    NOTHING_TO_APPROVE(409, "The run has asked for no approval"),
    TOO_MANY_SIGNALS(409, "The run keeps as many signals as it may"),
    STALE_LEASE(409, "The lease is somebody else's"),
    ATTEMPTS_EXHAUSTED(409, "The run has no attempts left"),
    BALANCE_OUT_OF_RANGE(409, "The account cannot hold that"),
    EXTERNAL_ID_TAKEN(409, "The external id belongs to another run"),
    RECIPE_NAME_TAKEN(409, "Another recipe has this name"),
    SCHEDULE_NAME_TAKEN(409, "Another schedule has this name"),
    RECIPE_IN_USE(409, "A schedule needs the recipe"),
    PRINCIPAL_EXISTS(409, "The name belongs to a principal of another kind"),
    KEY_NOT_ACTIVE(409, "The API key cannot be rotated"),
    AGENT_SLUG_TAKEN(409, "Another agent has this slug"),
    AGENTS_LIMIT_REACHED(409, "The workspace has as many agents as it may"),
    WEBHOOK_DISABLED(409, "The webhook is disabled"),
    WEBHOOKS_LIMIT_REACHED(409, "The workspace has as many webhooks as it may"),
    WORKSPACE_NAME_TAKEN(409, "Another workspace has this name"),
    WORKSPACE_NOT_OPEN(409, "The workspace cannot be changed"),
    ARTIFACT_GONE(410, "The artifact is no longer kept"),
    ARTIFACT_CONTENT_MISSING(410, "The artifact's content is gone"),
    ARTIFACT_TOO_LARGE(413, "The artifact is too large"),
    BODY_TOO_LARGE(413, "The body is too large"),
    URI_TOO_LONG(414, "The address is too long"),
    UNSUPPORTED_MEDIA_TYPE(415, "The body's type is not supported"),
    IDEMPOTENCY_IN_FLIGHT(409, "The first request under the idempotency key is under way"),
    IDEMPOTENCY_KEY_CONFLICT(422, "The idempotency key was used for something else"),
    INVALID_BODY(422, "The body cannot be accepted"),
    COMMAND_REFUSED(422, "The command was not done"),
    ARTIFACT_NAME_INVALID(422, "Not a name for a file"),
    ARTIFACT_TYPE_INVALID(422, "Not a media type"),
    ARTIFACT_HASH_MISMATCH(422, "What arrived is not what was sent"),
    UPLOAD_LIMIT_REACHED(429, "Too many uploads at a time"),
    REQUEST_LIMIT_REACHED(429, "Too many requests with this key"),
    OPEN_RUNS_LIMIT_REACHED(429, "The workspace has as many open runs as it may"),
    RUN_RATE_LIMIT_REACHED(429, "The workspace creates runs faster than it may"),
    RUN_STORAGE_LIMIT_REACHED(413, "The run stores as much as it may"),
    STORAGE_LIMIT_REACHED(429, "The workspace stores as much as it may"),
    STREAM_LIMIT_REACHED(429, "Too many event streams with this key"),
    HEADERS_TOO_LARGE(431, "The headers are too large"),
    INTERNAL_ERROR(500, "An error of the server's own"),
    COMMAND_OUTCOME_UNKNOWN(502, "Nobody knows whether the command was done"),
    PROVIDER_UNAVAILABLE(502, "The provider cannot be asked"),
    OVERLOADED(503, "Too much is under way"),
    ARTIFACT_STORE_FAILED(503, "The artifact store does not take it"),
    DATABASE_UNAVAILABLE(503, "The database cannot be reached"),
    DATABASE_FULL(503, "The database's disk is full"),
    DATABASE_READ_ONLY(503, "The database takes no changes"),
    NOT_READY(503, "Runs cannot be taken at the moment");

    private final int status;
    private final String title;

    ErrorCode(int status, String title) {
        this.status = status;
        this.title = title;
    }

    int status() {
        return status;
    }

    String title() {
        return title;
    }
}
