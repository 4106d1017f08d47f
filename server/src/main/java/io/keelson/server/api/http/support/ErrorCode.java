package io.keelson.server.api.http.support;

/**
 * Every {@code code} that the API's own problem documents have, with its HTTP status; {@code docs/reference/errors.md}
 * explains each. Codes of single problems in a body ({@code problems[]}) are defined in {@code SchemaCheck},
 * {@link RequestShape} and the plan reader.
 */
public enum ErrorCode {
    MALFORMED_REQUEST(400, "Malformed request"), MALFORMED_JSON(400, "Malformed JSON"), INVALID_ID(400, "Invalid id"),
    INVALID_PARAMETER(400, "Invalid query parameter or header"), UNKNOWN_PARAMETER(400, "Unknown query parameter"),
    IDEMPOTENCY_KEY_REQUIRED(400, "Idempotency key required"), INVALID_CURSOR(400, "Invalid cursor"),
    TWO_CREDENTIALS(400, "API key and session in one request"), UNAUTHENTICATED(401, "API key required"),
    INVALID_API_KEY(401, "Invalid API key"), SESSION_ENDED(401, "Session ended"),
    SESSION_CODE_INVALID(401, "Sign-in code invalid"), TOKEN_INVALID(401, "Token invalid"),
    TOKEN_EXPIRED(401, "Token expired"), TOKEN_NOT_YET_VALID(401, "Token not valid yet"),
    TOKEN_ISSUER_WRONG(401, "Token of another issuer"), TOKEN_AUDIENCE_WRONG(401, "Token for another audience"),
    TOKEN_REVOKED(401, "Token revoked"), SIGN_IN_STATE_INVALID(400, "Sign-in not begun by this browser"),
    SIGN_IN_STATE_REPLAYED(400, "Sign-in already completed"), SIGN_IN_REFUSED(403, "Sign-in refused by the provider"),
    SIGN_IN_ROLE_MISSING(403, "No role in a workspace"),
    SIGN_IN_NOT_CONFIGURED(404, "No identity provider configured"),
    SIGN_IN_PROVIDER_UNAVAILABLE(503, "Identity provider unavailable"),
    SIGNATURE_INVALID(401, "No valid proof of the sender"),
    INSUFFICIENT_CREDITS(402, "Insufficient credits"),
    MONTHLY_LIMIT_REACHED(402, "Limit of the month reached"), WORKSPACE_MISMATCH(403, "API key of another workspace"),
    WORKSPACE_CLOSED(403, "Workspace closed"), SCOPE_MISSING(403, "Missing scope"),
    APPROVER_IS_SUBMITTER(403, "Approver submitted the run"), APPROVER_NOT_A_PERSON(403, "Approver is not a person"),
    APPROVALS_REQUIRED(403, "Several people have to approve"), ALREADY_VOTED(409, "Already approved by the caller"),
    NO_VOTE(409, "No approval to withdraw"),
    KEY_REQUIRED(403, "API key required"), CROSS_SITE_REQUEST(403, "Request from another site"),
    ROUTE_NOT_FOUND(404, "Route not found"), RUN_NOT_FOUND(404, "Run not found"), TASK_NOT_FOUND(404, "Task not found"),
    OUTPUT_NOT_FOUND(404, "Task has no output"), AGENT_NOT_FOUND(404, "Agent not found"),
    MCP_SERVER_NOT_FOUND(404, "MCP server not found"), MCP_TOOL_NOT_FOUND(404, "MCP tool not found"),
    MCP_SERVERS_LIMIT_REACHED(409, "Limit of MCP servers reached"), MODEL_NOT_FOUND(404, "Model not found"),
    SECRET_NOT_FOUND(404, "Secret not found"), STEP_NOT_FOUND(404, "Step not found"),
    RECIPE_NOT_FOUND(404, "Recipe not found"), RECIPE_VERSION_NOT_FOUND(404, "Recipe version not found"),
    SCHEDULE_NOT_FOUND(404, "Schedule not found"), TRIGGER_NOT_FOUND(404, "Trigger not found"),
    TRIGGER_DELIVERY_NOT_FOUND(404, "Trigger delivery not found"), BULK_NOT_FOUND(404, "Bulk job not found"),
    WEBHOOK_NOT_FOUND(404, "Webhook not found"), WEBHOOK_DELIVERY_NOT_FOUND(404, "Webhook delivery not found"),
    COMMAND_NOT_FOUND(404, "Command not found"), DEPLOYMENT_NOT_FOUND(404, "Deployment not found"),
    ORDER_NOT_FOUND(404, "Order not found"), ESCALATION_NOT_FOUND(404, "Escalation not found"),
    INBOX_ITEM_NOT_FOUND(404, "Inbox item not found"), PROPOSAL_NOT_FOUND(404, "Proposal not found"),
    ARTIFACT_NOT_FOUND(404, "Artifact not found"), BOARD_TASK_NOT_FOUND(404, "Board task not found"),
    REPORT_NOT_FOUND(404, "Report not found"), LIFECYCLE_NOT_FOUND(404, "Lifecycle not found"),
    VIEW_NOT_FOUND(404, "Saved view not found"), WORKER_NOT_FOUND(404, "Worker not found"),
    VERSION_RULE_NOT_FOUND(404, "Tool has no rule about versions"),
    WORKSPACE_NOT_FOUND(404, "Workspace not found"), API_KEY_NOT_FOUND(404, "API key not found"),
    SESSION_NOT_FOUND(404, "Session not found"), METHOD_NOT_ALLOWED(405, "Method not allowed"),
    REQUEST_TIMEOUT(408, "Request timed out"), INVALID_STATE_TRANSITION(409, "Invalid state transition"),
    APPROVAL_AMBIGUOUS(409, "Several approvals pending"), APPROVAL_ALREADY_DECIDED(409, "Approval already decided"),
    BOARD_TASK_READ_ONLY(409, "Board task is managed by a run"), ANSWER_REQUIRED(409, "Answer required"),
    ANSWER_INVALID(422, "Answer does not fit the question"), NOT_AN_APPROVAL(409, "Step is not an approval"),
    GATE_CHANGED(409, "Decision on an earlier attempt"), TICKET_OPEN(409, "Escalation ticket open"),
    TICKET_NOT_OPEN(409, "Escalation ticket already answered"), PROPOSAL_NOT_PENDING(409, "Proposal no longer pending"),
    NO_PLANNER(409, "Run has no planner"), REPLANS_EXHAUSTED(409, "No replans left"),
    REPLAN_UNDER_WAY(409, "A new plan is being made"),
    BUDGET_EXCEEDED(409, "Hard limit of the run or budget of a task reached"),
    BUDGET_TOO_LOW(409, "Hard limit or budget below amount spent and reserved"),
    MODEL_NOT_CHEAPER(409, "Model of a downgrade not cheaper"), NO_TURNS_LEFT(409, "No turns for another model"),
    TASK_WITHOUT_BUDGET(409, "Task has no budget"), RUN_FINISHING(409, "Run ends at its limit"),
    CHILD_BUDGETS_REQUIRED(409, "Child runs without a limit"),
    PARENT_BUDGET_EXCEEDED(409, "Limit of the parent run exceeded"),
    RUN_UNDONE(409, "Run is undone"), UNDO_OF_UNDO(409, "Run is an undo"),
    UNDO_FROM_START(409, "Undo cannot start over"), NOT_AN_UNDO(409, "Ticket of another kind"),
    RUN_ARCHIVED(409, "Run is archived"), RETRY_PARENT_INSTEAD(409, "Run was started by another run"),
    RETRIES_EXHAUSTED(409, "No retries left"),
    RETRY_STATE_TERMINAL(409, "Task failed finally"), SIGNAL_NOT_AWAITED(409, "Signal not awaited"),
    NOTHING_TO_APPROVE(409, "No approval pending"), TOO_MANY_SIGNALS(409, "Signal limit of the run reached"),
    STALE_LEASE(409, "Lease held by another worker"), ATTEMPTS_EXHAUSTED(409, "No attempts left"),
    BALANCE_OUT_OF_RANGE(409, "Balance out of range"), EXTERNAL_ID_TAKEN(409, "External id already in use"),
    RECIPE_NAME_TAKEN(409, "Recipe name already in use"), SCHEDULE_NAME_TAKEN(409, "Schedule name already in use"),
    TRIGGER_NAME_TAKEN(409, "Trigger name already in use"),
    TRIGGERS_LIMIT_REACHED(409, "Trigger limit of the workspace reached"),
    RECIPE_IN_USE(409, "Recipe in use by a schedule or trigger"),
    PRINCIPAL_EXISTS(409, "Principal exists with another kind"),
    KEY_NOT_ACTIVE(409, "API key not active"), AGENT_SLUG_TAKEN(409, "Agent slug already in use"),
    AGENTS_LIMIT_REACHED(409, "Agent limit of the workspace reached"),
    VIEWS_LIMIT_REACHED(409, "Limit of saved views reached"),
    NO_CURRENT_VERSION(409, "Ramp without a current version"),
    VERSION_ALREADY_CURRENT(409, "Ramp of the current version"),
    NO_PREVIOUS_VERSION(409, "No version to return to"), TOOL_OF_SERVER(409, "The server executes the tool"),
    VERSION_RULES_LIMIT_REACHED(409, "Limit of rules about versions reached"),
    WEBHOOK_DISABLED(409, "Webhook disabled"),
    WEBHOOKS_LIMIT_REACHED(409, "Webhook limit of the workspace reached"),
    WORKSPACE_NAME_TAKEN(409, "Workspace name already in use"), WORKSPACE_NOT_OPEN(409, "Workspace not open"),
    ARTIFACT_GONE(410, "Artifact deleted"), ARTIFACT_CONTENT_MISSING(410, "Artifact content missing"),
    ARTIFACT_CONTENT_DAMAGED(410, "Artifact content damaged"),
    VERSION_CHANGED(412, "Changed since it was read"), ARTIFACT_TOO_LARGE(413, "Artifact too large"),
    BODY_TOO_LARGE(413, "Body too large"), RANGE_NOT_SATISFIABLE(416, "Range outside the content"),
    URI_TOO_LONG(414, "URI too long"), UNSUPPORTED_MEDIA_TYPE(415, "Unsupported media type"),
    IDEMPOTENCY_IN_FLIGHT(503, "First request with this idempotency key in progress"),
    IDEMPOTENCY_KEY_CONFLICT(422, "Idempotency key used for another request"), HOST_UNKNOWN(421, "Unknown host"),
    INVALID_BODY(422, "Invalid body"), COMMAND_REFUSED(422, "Command refused"),
    DELIVERY_KEY_INVALID(422, "Event without identity"),
    ARTIFACT_NAME_INVALID(422, "Invalid artifact name"), ARTIFACT_TYPE_INVALID(422, "Invalid media type"),
    ARTIFACT_HASH_MISMATCH(422, "Artifact hash mismatch"), UPLOAD_LIMIT_REACHED(429, "Too many concurrent uploads"),
    UPLOAD_TOO_SLOW(408, "Upload too slow"),
    REQUEST_LIMIT_REACHED(429, "Request rate limit of the API key reached"),
    OPEN_RUNS_LIMIT_REACHED(429, "Open run limit of the workspace reached"),
    RUN_RATE_LIMIT_REACHED(429, "Run creation rate limit of the workspace reached"),
    RUN_STORAGE_LIMIT_REACHED(413, "Storage limit of the run reached"),
    STORAGE_LIMIT_REACHED(429, "Storage limit of the workspace reached"),
    STREAM_LIMIT_REACHED(429, "Event stream limit of the API key reached"), HEADERS_TOO_LARGE(431, "Headers too large"),
    INTERNAL_ERROR(500, "Internal error"), TRANSFER_CODING_UNSUPPORTED(501, "Transfer coding not supported"),
    COMMAND_OUTCOME_UNKNOWN(502, "Command outcome unknown"), PROVIDER_UNAVAILABLE(502, "Provider unavailable"),
    OVERLOADED(503, "Server overloaded"), TRIGGER_SECRET_MISSING(503, "Secrets of the trigger missing"),
    ARTIFACT_STORE_FAILED(503, "Artifact store failed"), ARCHIVE_UNREADABLE(503, "Archived run not readable"),
    ARTIFACT_STORE_OF_OTHER_DATABASE(503, "Artifact store of another database"),
    DATABASE_UNAVAILABLE(503, "Database unavailable"), DATABASE_FULL(503, "Database disk full"),
    DATABASE_READ_ONLY(503, "Database is read-only"),
    DATABASE_WENT_BACK(503, "Database went back"), NOT_READY(503, "Server not ready");

    private final int status;
    private final String title;

    ErrorCode(int status, String title) {
        this.status = status;
        this.title = title;
    }

    public int status() {
        return status;
    }

    public String title() {
        return title;
    }
}
