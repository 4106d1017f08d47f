package io.keelson.core.decide;

import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.Rung;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.TaskPayload;
import java.math.BigDecimal;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Other models for the retries of a rejected task: the first rungs of its ladder. */
final class RetryModels {
    private RetryModels() {}

    /**
     * The turn with another model that the retry of a rejected task begins with, as the task declares.
     *
     * @return null where it declares no further one, or the budget does not pay it: the retry keeps the model
     */
    static @Nullable StepSpec next(Decision d, TaskRow task) {
        List<Rung> rungs = task.spec().policy().ladder();
        int number = Rungs.takenRungs(task) + 1;
        Rung rung = number > rungs.size() ? null : rungs.get(number - 1);
        if (rung == null || rung.to() != Rung.To.RETRY || rung.turn() == null
                || !ErrorClass.QUALITY.wire().equals(task.errorClass)) {
            return null;
        }
        boolean payable = payable(d, task, rung.turn());
        reached(d, task, number, rung, payable, Objects.requireNonNull(task.errorCode));
        return payable ? rung.turn() : null;
    }

    /** True when the limits of run and task and the credits pay the least that the turn may cost. */
    static boolean payable(Decision d, TaskRow task, StepSpec turn) {
        BigDecimal least = Holds.leastCost(d, turn);
        return HardLimit.allows(HardLimit.run(d), least) && HardLimit.allows(HardLimit.task(d, task.planKey()), least)
                && Credits.affordable(d, least);
    }

    /** Records that a rung was taken, or that the budget does not pay it. */
    static void reached(Decision d, TaskRow task, int number, Rung rung, boolean taken, String code) {
        AgentTerms agent = rung.agent();
        d.note(task, new TaskPayload.RungReached(number, rung.to().wire(), taken, agent == null ? null : agent.slug(),
                agent == null ? null : agent.model(), task.cost.stripTrailingZeros(), code));
    }
}
