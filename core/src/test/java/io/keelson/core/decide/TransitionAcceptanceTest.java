package io.keelson.core.decide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.lifecycle.ActorType;
import io.keelson.core.lifecycle.BoardStatus;
import io.keelson.core.lifecycle.EventType;
import io.keelson.core.lifecycle.Lifecycles;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.State;
import io.keelson.core.lifecycle.StateType;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Funds;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.TaskType;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Event;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.TaskPayload;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** PRD-101's acceptance criteria AC-16 to AC-18 and AC-22, as far as they need no database. */
class TransitionAcceptanceTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    private static final UUID ID = new UUID(1, 1);

    private final RunRow run = new RunRow(ID, ID, "n", 100, RunPolicy.DEFAULT, null);
    private final ChangeSet changes = new ChangeSet();
    private final Decision decision = new Decision(new RunView(run, null), changes, NOW, UUID::randomUUID,
            LocalCapacity.none(), Funds.UNLIMITED, Actor.SYSTEM);

    @Test
    void ac16TheWordsAreThere() {
        assertThat(StateType.values()).extracting(Enum::name).contains("PENDING", "RUNNING", "PAUSED", "TERMINAL");
        assertThat(wires(RunState.values())).contains("pending", "planning", "awaiting_approval", "running", "paused",
                "budget_exceeded", "completed", "failed", "cancelled");
        assertThat(wires(TaskState.values())).containsExactlyInAnyOrder("pending", "queued", "awaiting_retry",
                "assigned", "running", "continuing", "verifying", "awaiting_human", "completed", "failed",
                "cancelled", "skipped");
        assertThat(TriggerRule.values()).extracting(TriggerRule::wire).contains("all_success", "all_done", "always");
        assertThat(EventType.values()).extracting(EventType::wire).contains("run_created", "run_planning_started",
                "run_plan_ready", "run_approved", "run_rejected", "run_started", "run_paused", "run_resumed",
                "run_budget_warning", "run_budget_exceeded", "run_budget_increased", "run_completed", "run_failed",
                "run_cancelled", "task_created", "task_queued", "task_assigned", "task_started", "task_continuing",
                "task_resumed", "task_output_submitted", "task_verification_started", "task_verification_passed",
                "task_verification_failed", "task_human_review_requested", "task_human_approved",
                "task_human_rejected", "task_retrying", "task_crashed", "task_failed", "task_skipped",
                "task_cancelled", "stall_detected", "model_fallback", "cost_snapshot");
        assertThat(ActorType.values()).extracting(ActorType::wire).contains("system", "coordinator", "agent",
                "verifier", "human", "reconciler");
    }

    /** One event per edge: a move that hands in another one is a bug. */
    @Test
    void eachTransitionHasItsOwnEvent() {
        TaskRow task = task(TaskState.PENDING);
        assertThatThrownBy(() -> decision.move(task, TaskState.QUEUED, new TaskPayload.Requeued()))
                .isInstanceOf(IllegalStateException.class).hasMessageContaining("TASK_REQUEUED");
        decision.move(task, TaskState.QUEUED, new TaskPayload.Queued(null));
        assertThat(changes.events()).extracting(Event::type).containsExactly(EventType.TASK_QUEUED);
    }

    @ParameterizedTest
    @EnumSource
    void ac17ATaskGoesNowhereElse(TaskState from) {
        for (TaskState to : TaskState.values()) {
            if (Lifecycles.TASK.edge(from, to) == null) {
                TaskRow task = task(from);
                assertThatThrownBy(() -> decision.move(task, to, new TaskPayload.Queued(null)))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("cannot go from " + from);
                assertThat(task.state()).isEqualTo(from);
            }
        }
        assertThat(changes.events()).isEmpty();
        assertThat(changes.tasks()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void ac18ARunGoesNowhereElse(RunState from) {
        run.state = from;
        for (RunState to : RunState.values()) {
            if (Lifecycles.RUN.edge(from, to) == null) {
                assertThatThrownBy(() -> decision.move(to, new RunPayload.Started()))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("cannot go from " + from);
                assertThat(run.state()).isEqualTo(from);
            }
        }
        assertThat(changes.events()).isEmpty();
        assertThat(changes.runs()).isEmpty();
    }

    /** Word by word. */
    @Test
    void ac22TheColumnsOfTheBoard() {
        String seed = """
                pending inbox, queued inbox, awaiting_retry assigned, assigned assigned, running in_progress,
                continuing in_progress, verifying review, awaiting_human review, completed done, failed done,
                cancelled done, skipped done""";
        assertThat(Arrays.stream(TaskState.values()).map(state -> state.wire() + " " + BoardStatus.of(state).wire()))
                .containsExactlyInAnyOrder(seed.split(",\\s+"));
        assertThat(EnumSet.allOf(RunState.class))
                .allSatisfy(state -> assertThat(BoardStatus.of(state) == BoardStatus.DONE).isEqualTo(state.terminal()));
    }

    private static TaskRow task(TaskState state) {
        TaskSpec spec = new TaskSpec("a", "A", null, TaskType.OTHER, null, List.of(), TriggerRule.ALL_SUCCESS, null,
                null, null, false, List.of(), null);
        return new TaskRow(ID, "a", 1, spec, new AgentRow(ID, 1, "worker"), null, -1, null).restore(state, 1, 0, 0,
                BigDecimal.ZERO, null, null, null, null, null, null);
    }

    private static Set<String> wires(State[] states) {
        return Arrays.stream(states).map(State::wire).collect(Collectors.toSet());
    }
}
