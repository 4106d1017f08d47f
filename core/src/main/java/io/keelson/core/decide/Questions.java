package io.keelson.core.decide;

import io.keelson.core.decide.Question.Kind;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.StepKind;
import io.keelson.core.run.Command.DecideGate.Gate;
import java.time.Instant;
import java.util.Comparator;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The question with which a row waits for a person. Timers, the inbox and the check of answers take it from here. */
final class Questions {
    private Questions() {}

    /** The question of a run, a task, a step or a ticket; null if the row does not wait for a person. */
    static @Nullable Question of(RunView view, UUID subject) {
        TicketRow ticket = view.tickets.get(subject);
        TaskRow task = view.tasks.get(subject);
        StepRow step = view.steps.get(subject);
        if (ticket != null) {
            return question(view, Kind.ESCALATION, ticket.openedAt(), null, Alike.cause(view, ticket));
        }
        if (task != null) {
            return task.state != TaskState.AWAITING_HUMAN ? null
                    : question(view, Kind.TASK_REVIEW, task.askedAt, task.stateSince, null);
        }
        if (step != null) {
            return step.state != StepState.WAITING_APPROVAL ? null
                    : question(view, kind(step), step.startedAt, null, null);
        }
        if (!subject.equals(view.run.id())) {
            return null;
        }
        if (view.run.state == RunState.AWAITING_APPROVAL) {
            return question(view, Kind.PLAN_APPROVAL, asked(view, Gate.PLAN), null, null);
        }
        return view.run.state != RunState.RUNNING || view.run.gate != RunRow.Gate.ACCEPTANCE ? null
                : question(view, Kind.RESULT_ACCEPTANCE, asked(view, Gate.RESULT), view.run.stateSince, null);
    }

    private static Kind kind(StepRow step) {
        return step.spec().kind() != StepKind.CALL ? Kind.APPROVAL_STEP
                : step.question() ? Kind.QUESTION : Kind.CALL_APPROVAL;
    }

    /**
     * When the question of a gate at which the run waits was asked. A run asks again after a retry and after a new plan. The
     * question about a result is as old as its last task, so that a pause does not change it.
     */
    static @Nullable Instant asked(RunView view, Gate gate) {
        return switch (gate) {
            case PLAN, BUDGET -> view.run.stateSince;
            case RESULT -> view.tasks.values().stream().map(task -> task.completedAt).filter(Objects::nonNull)
                    .max(Comparator.naturalOrder()).orElse(view.run.stateSince);
        };
    }

    /** @param counted when the time for an answer began, if a pause of the run has changed it */
    private static Question question(RunView view, Kind kind, @Nullable Instant asked, @Nullable Instant counted,
            @Nullable String cause) {
        Instant since = Objects.requireNonNull(asked);
        Instant from = counted != null && counted.isAfter(since) ? counted : since;
        return new Question(kind, view.run.workspaceId(), since, from.plus(view.run.policy().humans().timeout()),
                cause);
    }
}
