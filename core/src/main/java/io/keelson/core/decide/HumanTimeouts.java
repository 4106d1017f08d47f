package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.HumanRules;
import io.keelson.core.plan.HumanRules.OnTimeout;
import io.keelson.core.plan.StepKind;
import io.keelson.core.run.Command;
import io.keelson.core.run.OtherPayload;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Handles gates and tickets without a timely answer: reminds people, or answers by the run's rule. */
final class HumanTimeouts {
    private static final String COMMENT = "no answer in time";

    private HumanTimeouts() {}

    /** The timer of a gate or a ticket is due. */
    static void over(Decision d, UUID subject) {
        d.disarm(TimerKind.HUMAN, subject);
        TicketRow ticket = d.view.tickets.get(subject);
        TaskRow task = d.view.tasks.get(subject);
        StepRow step = d.view.steps.get(subject);
        if (ticket != null) {
            if (isOver(d, subject, ticket.openedAt())) {
                TicketAnswers.overdue(d, ticket);
            }
        } else if (task != null && task.state == TaskState.AWAITING_HUMAN) {
            if (isOver(d, subject, task.stateSince) && !reminded(d, subject, task, null)) {
                Verdicts.decide(d, task, approves(d) ? Command.DecideTask.Choice.APPROVE
                        : Command.DecideTask.Choice.REJECT, null, COMMENT);
            }
        } else if (step != null && step.state == StepState.WAITING_APPROVAL) {
            if (isOver(d, subject, step.startedAt) && !reminded(d, subject, step.task(), step)) {
                if (step.spec().kind() == StepKind.CALL) {
                    HumanGates.decideCall(d, step, approves(d) && !step.question(), COMMENT, null);
                } else {
                    HumanGates.decideStep(d, step, approves(d), COMMENT);
                }
            }
        } else if (subject.equals(d.run.id()) && atGate(d) && isOver(d, subject, gateSince(d))
                && !reminded(d, subject, null, null)) {
            HumanGates.decide(d, approves(d), COMMENT);
        }
    }

    /** Whether the time is over. Time without an engine does not count, as people could not answer. */
    private static boolean isOver(Decision d, UUID subject, @Nullable Instant asked) {
        HumanRules rules = d.run.policy().humans();
        Duration left = rules.timeout().minus(CountedTime.alive(d.view, asked, d.now));
        boolean over = rules.onTimeout() == OnTimeout.REMIND || asked == null || !left.isPositive();
        if (!over) {
            d.arm(TimerKind.HUMAN, subject, d.now.plus(left));
        }
        return over;
    }

    private static boolean reminded(Decision d, UUID subject, @Nullable TaskRow task, @Nullable StepRow step) {
        HumanRules rules = d.run.policy().humans();
        if (rules.onTimeout() != OnTimeout.REMIND) {
            return false;
        }
        d.note(task, step, new OtherPayload.HumanReminded("decision"));
        d.arm(TimerKind.HUMAN, subject, d.now.plus(rules.timeout()));
        return true;
    }

    private static boolean approves(Decision d) {
        return d.run.policy().humans().onTimeout() == OnTimeout.APPROVE;
    }

    private static boolean atGate(Decision d) {
        return d.run.state == RunState.AWAITING_APPROVAL
                || d.run.state == RunState.RUNNING && d.run.gate == RunRow.Gate.ACCEPTANCE;
    }

    /** A result waits from the end of the run's last agent, and from each resume. */
    private static @Nullable Instant gateSince(Decision d) {
        return Stream.concat(Stream.ofNullable(d.run.stateSince), d.view.agents.stream()
                .map(agent -> agent.completedAt).filter(Objects::nonNull)).max(Comparator.naturalOrder()).orElse(null);
    }
}
