package io.keelson.core.decide;

import io.keelson.core.money.Purpose;
import io.keelson.core.plan.Models;
import io.keelson.core.plan.StepKind;
import io.keelson.core.run.Result;
import io.keelson.core.run.TurnAnswer;

/** The purpose for which a step is charged, by its result, its tool, its kind and its task. */
final class Purposes {
    private Purposes() {}

    static Purpose of(StepRow step, Result result) {
        if (result.turn() instanceof TurnAnswer.Compacted) {
            return Purpose.COMPACTION;
        }
        return switch (step.spec().tool()) {
            case Models.PLAN_TOOL -> Purpose.PLANNING;
            case Models.JUDGE_TOOL -> Purpose.VERIFICATION;
            default -> SystemTasks.plans(step.task()) ? Purpose.PLANNING
                    : step.spec().kind() == StepKind.VERIFY ? Purpose.VERIFICATION : Purpose.WORK;
        };
    }
}
