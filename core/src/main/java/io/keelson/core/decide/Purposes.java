package io.keelson.core.decide;

import io.keelson.core.money.Purpose;
import io.keelson.core.plan.Models;
import io.keelson.core.plan.StepKind;

/** The purpose for which a step is charged, by its tool, its kind and its task. */
final class Purposes {
    private Purposes() {}

    static Purpose of(StepRow step) {
        return switch (step.spec().tool()) {
            case Models.PLAN_TOOL -> Purpose.PLANNING;
            case Models.JUDGE_TOOL -> Purpose.VERIFICATION;
            case Models.COMPACT_TOOL -> Purpose.COMPACTION;
            default -> SystemTasks.plans(step.task()) ? Purpose.PLANNING
                    : step.spec().kind() == StepKind.VERIFY ? Purpose.VERIFICATION : Purpose.WORK;
        };
    }
}
