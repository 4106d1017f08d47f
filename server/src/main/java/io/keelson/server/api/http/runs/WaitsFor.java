package io.keelson.server.api.http.runs;

import io.keelson.core.run.Explanation;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** Reasons for which an open run waits, as the parameter {@code waits_for} names them. */
enum WaitsFor {
    HUMAN("APPROVAL", "QUESTION", "TASK_REVIEW", "PLAN_APPROVAL", "RESULT_ACCEPTANCE", "TICKET_OPEN"),
    WORKER("MISSING_WORKER", "MISSING_VERSION", "QUEUED"),
    LIMIT("AGENTS_LIMIT", "STEPS_LIMIT", "TASKS_LIMIT", "WORKSPACE_LIMIT", "CONCURRENCY_KEY", "MODEL_BUSY", "DEFERRED"),
    TIMER("TIMER", "STARTS_LATER"), SIGNAL("SIGNAL"), CHILD("CHILD_RUN"),
    RETRY("STEP_BACKOFF", "TASK_BACKOFF", "AGENT_BACKOFF", "RUN_BACKOFF"), MONEY("BUDGET_EXCEEDED", "CREDITS_HELD");

    @SuppressWarnings("ImmutableEnumChecker") // made by Set.of
    private final Set<String> codes;

    WaitsFor(String... codes) {
        this.codes = Set.of(codes);
    }

    static Set<WaitsFor> of(List<String> names) {
        return names.stream().map(name -> valueOf(name.toUpperCase(Locale.ROOT))).collect(Collectors.toSet());
    }

    /** Whether any of a run's reasons is of one of these kinds. */
    static boolean any(Set<WaitsFor> kinds, List<Explanation> reasons) {
        return reasons.stream().anyMatch(reason -> kinds.stream().anyMatch(kind -> kind.codes.contains(reason.code())));
    }
}
