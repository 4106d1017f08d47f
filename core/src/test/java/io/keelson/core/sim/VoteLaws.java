package io.keelson.core.sim;

import static io.keelson.core.sim.Violation.unless;

import io.keelson.core.lifecycle.ActorType;
import io.keelson.core.lifecycle.EventType;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.run.Event;
import io.keelson.core.run.OtherPayload;
import java.util.List;
import java.util.UUID;

/**
 * Laws of runs whose questions require two people: another person has approved before the one who decides, and no vote outlives
 * its question.
 */
final class VoteLaws {
    private final RunRows before;
    private final RunRows after;

    /** @param before null for a run that the commit makes */
    VoteLaws(RunRows before, RunRows after) {
        this.before = before;
        this.after = after;
    }

    void check(List<Event> events) {
        after.votes.values()
                .forEach(vote -> unless(waits(vote.subject()), "a vote about a question that does not wait: %s",
                        vote));
        if (after.accepted.policy().humans().approvals() < 2 || before == null) {
            return;
        }
        for (Event event : events) {
            UUID subject = approved(event);
            unless(subject == null || before.votes.values().stream()
                    .anyMatch(vote -> vote.subject().equals(subject) && !vote.voter().equals(event.actor().id()))
                    || events.stream().anyMatch(each -> each.payload() instanceof OtherPayload.ApprovalVoted vote
                            && vote.subject().equals(subject) && !vote.votedBy().equals(event.actor().id())),
                    "approved by one person: %s %s", event, before.votes);
        }
    }

    /** The subject of a question that a person has approved; null for any other event, and for a question of an agent. */
    private UUID approved(Event event) {
        Saved.Step step = event.stepId() == null ? null : before.steps.get(event.stepId());
        if (event.actor().type() != ActorType.HUMAN || step != null && step.spec().tool().equals(AgentTerms.ASK)) {
            return null;
        }
        EventType type = event.type();
        return type == EventType.RUN_APPROVED && "awaiting_approval".equals(event.from()) ? event.runId()
                : type == EventType.TASK_HUMAN_APPROVED ? event.taskId()
                        : type == EventType.STEP_APPROVED ? event.stepId() : null;
    }

    private boolean waits(UUID subject) {
        Saved.Task task = after.tasks.get(subject);
        Saved.Step step = after.steps.get(subject);
        return task != null ? task.state() == TaskState.AWAITING_HUMAN
                : step != null ? step.state() == StepState.WAITING_APPROVAL
                        : !subject.equals(after.id()) || !after.run.state().terminal();
    }
}
