package io.keelson.cli.view;

import io.keelson.api.run.Step;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A task as it is followed; only {@link RunModel} changes it. */
final class TaskLine {

    final String id;
    String key = "";
    String title = "";
    /** The text after the key of a fan-out's item with its own name; empty if absent. */
    String label = "";
    String state = "pending";
    List<String> dependsOn = List.of();
    @Nullable Instant startedAt;
    @Nullable Instant endedAt;
    @Nullable String error;
    /** The last step that failed and that it continued without; null when there is none. */
    @Nullable StepLine failureIgnored;
    int attempt = 1;
    /** The maximum number of rounds of a task with {@code repeat}; null for other tasks. */
    @Nullable Integer maxRounds;
    /** When its next attempt begins; null when none is scheduled. */
    @Nullable Instant nextRunAt;
    /** The open ticket about it or one of its steps; null when there is none. */
    @Nullable String ticket;
    /** Steps that have begun and not ended, by id. */
    final Map<String, StepLine> openSteps = new LinkedHashMap<>();

    TaskLine(String id) {
        this.id = id;
    }

    boolean known() {
        return !key.isEmpty();
    }

    /** The key of the task whose {@code for_each} made this one; null when it is no such child. */
    @Nullable String groupKey() {
        int bracket = key.lastIndexOf('[');
        return key.endsWith("]") && bracket > 0 ? key.substring(0, bracket) : null;
    }

    /** Whether a part of the task has failed, also while the task runs again. */
    boolean troubled() {
        return attempt > 1 || goneOnWithout() != null
                || openSteps.values().stream().anyMatch(step -> step.error != null);
    }

    /**
     * The step that it continued without, with its error; failed calls of agents are omitted, because the agent judges
     * them.
     */
    @Nullable String goneOnWithout() {
        StepLine step = failureIgnored;
        return step == null || step.named != null && "call".equals(step.named.kind()) ? null
                : (step.named == null ? "a step" : TerminalText.clean(step.named.name())) + ": " + step.error;
    }

    /** The look of the line: of an open ticket or approval step, otherwise of the task's state. */
    Phase phase() {
        Phase own = Phase.of(state);
        if (ticket != null && !own.ended()) {
            return Phase.HUMAN;
        }
        if (own != Phase.ACTIVE) {
            return own;
        }
        Phase phase = own;
        for (StepLine step : openSteps.values()) {
            Phase stepPhase = Phase.of(step.state);
            if (stepPhase == Phase.ACTIVE) {
                return Phase.ACTIVE;
            }
            phase = stepPhase;
        }
        return phase;
    }

    /** A step of the task, as far as it is known. */
    static final class StepLine {
        final String id;
        String state;
        @Nullable String error;
        @Nullable Instant nextRunAt;
        @Nullable Step named;

        StepLine(String state, String id) {
            this.state = state;
            this.id = id;
        }
    }
}
