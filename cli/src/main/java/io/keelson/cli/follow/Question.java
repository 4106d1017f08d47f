package io.keelson.cli.follow;

import io.keelson.api.inbox.InboxItem;
import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.Prompt;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.PendingDecisions;
import io.keelson.cli.view.Subject;
import io.keelson.cli.view.Summary;
import io.keelson.client.InboxQuery;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.Page;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * A question of a run that a person can answer with yes or no.
 *
 * @param subject the subject of the decision, shown before the question
 * @param item whether an item of the run's inbox is this question
 * @param decide receives the answer
 */
record Question(List<String> subject, String text, Predicate<InboxItem> item, Consumer<Boolean> decide) {

    private static final int CONFLICT = 409;
    private static final int MAX_ITEMS = 500;

    /** All that the run waits for and that has such an answer. */
    static List<Question> of(PendingDecisions pendingDecisions, Keelson keelson, CliCommand command) {
        String run = pendingDecisions.run().id();
        List<Question> questions = new ArrayList<>();
        if (pendingDecisions.plan()) {
            questions.add(new Question(Subject.plan(pendingDecisions.run(), command.style()),
                    "Approve the plan of " + AmountText.count(Subject.size(pendingDecisions.run()), "task") + "?",
                    item -> item.kind().equals("plan_approval"), yes -> {
                        var _ = yes ? keelson.runs().approve(run, null) : keelson.runs().reject(run, null);
                    }));
        }
        if (pendingDecisions.result()) {
            questions.add(
                    new Question(Summary.result(pendingDecisions, ProgramName.current(), command.style()),
                            "Accept the result?",
                            item -> item.kind().equals("result_acceptance"), yes -> {
                                var _ = yes ? keelson.runs().approve(run, null) : keelson.runs().reject(run, null);
                            }));
        }
        pendingDecisions.outputs().forEach(task -> questions.add(new Question(
                Summary.toJudge(task, ProgramName.current(), command.style()),
                "Approve the output of " + task.key() + "?",
                item -> task.id().equals(item.taskId()) && Objects.equals(task.gate(), item.gate()), yes -> {
                    var _ = yes ? keelson.tasks().approve(task.id(), task.gate(), null)
                            : keelson.tasks().reject(task.id(), task.gate(), null);
                })));
        pendingDecisions.approvals().forEach(step -> questions.add(new Question(Subject.data(step, command.style()),
                Summary.question(step), item -> step.id().equals(item.stepId()), yes -> {
                    var _ = yes ? keelson.steps().approve(step.id(), null) : keelson.steps().reject(step.id(), null);
                })));
        return questions;
    }

    /** Asks it; false where the terminal was closed instead of an answer. */
    boolean ask(CliCommand command, Keelson keelson, String run) {
        command.print(subject);
        Prompt.Answer answer = Prompt.ask(command.out(), text, () -> open(keelson, run));
        switch (answer) {
            case YES, NO -> decide(command, answer == Prompt.Answer.YES);
            case OVERTAKEN -> command.note("it was already decided elsewhere");
            case NONE -> {
                return false;
            }
        }
        return true;
    }

    private void decide(CliCommand command, boolean yes) {
        try {
            decide.accept(yes);
        } catch (KeelsonException e) {
            if (e.status() != CONFLICT) {
                throw e;
            }
            command.note("it was already decided elsewhere: " + e.getMessage());
        }
    }

    /** A question that cannot be read counts as open. */
    private boolean open(Keelson keelson, String run) {
        try {
            Page<InboxItem> page = keelson.inbox().list(InboxQuery.all().run(run).limit(MAX_ITEMS));
            return page.nextCursor() != null || page.items().stream().anyMatch(item);
        } catch (KeelsonException e) {
            return true;
        }
    }
}
