package io.keelson.core.lifecycle;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The errors of the run lifecycle contract. An error code outside this list keeps its own name in that contract. */
public enum LifecycleError {
    NLM_UNAVAILABLE(502,
            "the model cannot be reached: also an agent's turn that ends with a code of `UPSTREAM_UNAVAILABLE`",
            "MODEL_UNAVAILABLE"),
    UPSTREAM_UNAVAILABLE(502, "the artifact store, every worker, or the other side of a step's call cannot be reached",
            "ARTIFACT_STORE_FAILED", "WORKER_HEARTBEAT_TIMEOUT", "HTTP_UNKNOWN_HOST", "HTTP_CONNECT_FAILED",
            "HTTP_TLS_FAILED", "HTTP_TIMEOUT", "HTTP_BROKEN_OFF", "HTTP_STATUS_502", "HTTP_STATUS_503",
            "HTTP_STATUS_504"),
    AGENT_TIMEOUT(504, "the run, or an agent, task or step of it, took too long", "RUN_TIMEOUT", "RUN_NOT_STARTED",
            "RUN_NOT_RESUMED", "RUN_NOT_RETRIED", "TASK_TIMEOUT", "STEP_TIMEOUT", "PROCESS_TIMEOUT", "SIGNAL_TIMEOUT",
            "CHILD_RUN_TIMEOUT"),
    INTERNAL_ERROR(500, "another error that is retried, and the retries are exhausted");

    private final int httpStatus;
    private final String when;
    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<String> codes;

    LifecycleError(int httpStatus, String when, String... codes) {
        this.httpStatus = httpStatus;
        this.when = when;
        this.codes = List.of(codes);
    }

    /**
     * The error of a failed run.
     *
     * @param code the run's error code
     * @param turn whether an agent's turn ended with it
     * @param retried whether its error class is retried
     * @return empty for an error that keeps its own code
     */
    public static Optional<LifecycleError> of(String code, boolean turn, boolean retried) {
        LifecycleError named = Arrays.stream(values())
                .filter(each -> each.name().equals(code) || each.codes.contains(code)).findFirst().orElse(null);
        if (named == UPSTREAM_UNAVAILABLE && turn) {
            return Optional.of(NLM_UNAVAILABLE);
        }
        return named != null ? Optional.of(named) : retried ? Optional.of(INTERNAL_ERROR) : Optional.empty();
    }

    /** The HTTP status that the contract gives it. */
    public int httpStatus() {
        return httpStatus;
    }

    /** When a run has it, in words. */
    public String when() {
        return when;
    }

    /** The error codes of runs that it covers besides its own name. */
    public List<String> codes() {
        return codes;
    }
}
