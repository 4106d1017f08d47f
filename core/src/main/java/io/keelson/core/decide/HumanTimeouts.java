package io.keelson.core.decide;

import io.keelson.core.plan.HumanRules;
import io.keelson.core.plan.HumanRules.OnTimeout;
import io.keelson.core.plan.StepKind;
import io.keelson.core.run.Command;
import io.keelson.core.run.OtherPayload;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Handles gates and tickets without a timely answer: reminds people, or answers by the run's rule. */
final class HumanTimeouts {
    private static final String COMMENT = "no answer in time";

    private HumanTimeouts() {}

    /** The timer of a gate or a ticket is due. */
    static void over(Decision d, UUID subject) {
        d.disarm(TimerKind.HUMAN, subject);
        Question question = Questions.of(d.view, subject);
        if (question == null || !isOver(d, subject, question)) {
            return;
        }
        TicketRow ticket = d.view.tickets.get(subject);
        TaskRow task = d.view.tasks.get(subject);
        StepRow step = d.view.steps.get(subject);
        if (ticket != null) {
            TicketAnswers.overdue(d, ticket);
        } else if (reminded(d, subject, step == null ? task : step.task(), step)) {
            return;
        } else if (task != null) {
            Verdicts.decide(d, task, approves(d) ? Command.DecideTask.Choice.APPROVE : Command.DecideTask.Choice.REJECT,
                    null, COMMENT);
        } else if (step == null) {
            HumanGates.decide(d, approves(d), COMMENT);
        } else if (step.spec().kind() == StepKind.CALL) {
            HumanGates.decideCall(d, step, approves(d) && !step.question(), COMMENT, null);
        } else {
            HumanGates.decideStep(d, step, approves(d), COMMENT);
        }
    }

    /** Whether the time is over. Time without an engine does not count, as people could not answer. */
    private static boolean isOver(Decision d, UUID subject, Question question) {
        HumanRules rules = d.run.policy().humans();
        Instant since = question.dueAt().minus(rules.timeout());
        Duration left = rules.timeout().minus(CountedTime.alive(d.view, since, d.now));
        boolean over = rules.onTimeout() == OnTimeout.REMIND || !left.isPositive();
        if (!over) {
            d.ask(subject, d.now.plus(left));
        }
        return over;
    }

    private static boolean reminded(Decision d, UUID subject, @Nullable TaskRow task, @Nullable StepRow step) {
        HumanRules rules = d.run.policy().humans();
        if (rules.onTimeout() != OnTimeout.REMIND) {
            return false;
        }
        d.note(task, step, new OtherPayload.HumanReminded("decision"));
        d.ask(subject);
        return true;
    }

    private static boolean approves(Decision d) {
        return d.run.policy().humans().onTimeout() == OnTimeout.APPROVE;
    }
}
