package io.keelson.core.sim;

import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Changes.Evaluate;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.StepError;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

/** What expressions come to: always the same for the same subject, whoever asks and however often. */
final class Evaluations {

    private Evaluations() {}

    static Evaluation answer(RunRows rows, Evaluate asked) {
        int dice = Math.floorMod(asked.subject().hashCode() * 31 + asked.kind().ordinal(), 20);
        if (dice == 0) {
            return new Evaluation.Broken(new StepError("EXPRESSION_FAILED", ErrorClass.PERMANENT, "no"));
        }
        return switch (asked.kind()) {
            case EVALUATE_GATE -> gate(rows.tasks.get(asked.subject()), dice);
            case EVALUATE_STEP -> opened(rows.steps.get(asked.subject()), dice);
            case EVALUATE_TASK_OUTPUT, EVALUATE_RUN_OUTPUT -> new Evaluation.Output("1");
            case EVALUATE_PLAN -> RandomPlans.another(rows);
            case STEP_RETRY, STEP_WAIT, TASK_CONTINUE, TASK_RETRY, AGENT_RETRY, RUN_RETRY, START, HUMAN,
                    HEARTBEAT, WATCH ->
                throw new IllegalArgumentException(asked.toString());
        };
    }

    private static Evaluation opened(Saved.Step step, int dice) {
        return step.spec().kind() != StepKind.SIGNAL ? new Evaluation.Opened("{}", Duration.ofMillis(dice * 700L), null)
                : new Evaluation.Awaits("{\"name\": \"" + signal(step.id()) + "\", \"on_timeout\": \""
                        + (dice % 2 == 0 ? "continue" : "fail") + "\"}", signal(step.id()),
                        dice % 3 == 0 ? null : Duration.ofSeconds(dice),
                        dice % 2 == 0);
    }

    /** One of few names, so that several wait for the same. */
    static String signal(UUID step) {
        return "signal" + Math.floorMod(step.hashCode(), 2);
    }

    private static Evaluation gate(Saved.Task task, int dice) {
        if (task.spec().when() != null && dice % 3 == 0) {
            return new Evaluation.Skip();
        }
        List<String> items = IntStream.range(0, dice % 6).mapToObj(Integer::toString).toList();
        return new Evaluation.Proceed(task.spec().forEach() == null || task.groupId() != null ? null : items);
    }
}
