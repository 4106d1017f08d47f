package io.keelson.core.sim;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What simulations need not reach, each with its reason: tables to be shrunk. Whatever is not in them must be reached. */
final class Reach {
    /** Edges of the lifecycles that no command leads to yet, or that only exist inside one commit. */
    private static final Map<String, List<String>> EDGES = Map.of(
            "passed in one commit: nothing can come between", List.of("run pending → cancelled", "run pending → failed",
                    "run planning → cancelled", "run planning → failed", "run resuming → cancelled",
                    "run resuming → failed", "run resuming → paused", "run retrying → cancelled",
                    "run retrying → failed", "task assigned → queued", "task assigned → cancelled",
                    "task assigned → awaiting_retry"),
            "budgets are not kept yet", List.of("run running → budget_exceeded", "run budget_exceeded → resuming",
                    "run budget_exceeded → cancelled", "run budget_exceeded → failed"),
            "failure policy: levels that start over, escalation, skipped steps", List.of("run running → escalated",
                    "run escalated → resuming", "run escalated → cancelled", "run escalated → failed",
                    "agent running → pending", "task running → awaiting_retry", "task awaiting_retry → assigned",
                    "task awaiting_retry → queued", "task awaiting_retry → cancelled", "task awaiting_retry → failed",
                    "task awaiting_retry → skipped", "step awaiting_retry → failed", "step awaiting_retry → skipped",
                    "step pending → skipped", "task running → skipped", "agent running → skipped"),
            "verification and human review", List.of("task running → verifying", "task running → awaiting_human",
                    "task verifying → completed", "task verifying → awaiting_retry", "task verifying → awaiting_human",
                    "task verifying → failed", "task verifying → cancelled", "task awaiting_human → completed",
                    "task awaiting_human → awaiting_retry", "task awaiting_human → failed",
                    "task awaiting_human → cancelled"),
            "a resume that is impossible", List.of("run paused → failed", "agent paused → failed"));

    /** Timers are decided under the run's lock, by the database's time. */
    private static final Set<String> PAIRS =
            Set.of("step waiting → completed × CLOCK_SKEWED", "step waiting → completed × VIEW_STALE");

    private Reach() {}

    static Set<String> edges() {
        Set<String> beyond = EDGES.values().stream().flatMap(List::stream).collect(Collectors.toSet());
        return Coverage.allEdges().stream().filter(edge -> !beyond.contains(edge)).collect(Collectors.toSet());
    }

    static boolean possible(String pair) {
        return !PAIRS.contains(pair);
    }

    /** Simple names of the concrete records of a sealed interface. */
    static Stream<String> cases(Class<?> sealed) {
        return Stream.of(sealed.getPermittedSubclasses()).map(Class::getSimpleName);
    }
}
