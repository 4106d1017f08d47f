package io.keelson.core.decide;

import io.keelson.core.decide.ChangeSet.Chain;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Amounts;
import io.keelson.core.plan.StepKind;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The steps that a node executes one after another before a commit records the first one's end. Each of them would begin in the
 * commit that ends the step before it, in the same slot, by the rules of {@link SlotScheduling#open}. Its execution may be repeated,
 * because its tool has no effect.
 */
final class Chains {
    /** The number of steps in one chain, the first included. Then the lane goes behind waiting work of others. */
    static final int MAX_STEPS = 64;
    /** Part of every expression that opens a secret. */
    private static final String SECRET = "secret";

    private Chains() {}

    /** The chain that begins with a step that the deciding node has claimed. */
    static Chain after(Decision d, StepRow first) {
        TaskRow task = first.task();
        if (!d.carriedOut() || task.state != TaskState.RUNNING || task.spec().policy().unchained()
                || first.state != StepState.RUNNING || first.hold != null || !repeatable(d, first)) {
            return Chain.NONE;
        }
        boolean limited = HardLimit.mayHoldBack(d, task);
        HardLimit.@Nullable Scope ofRun = limited ? HardLimit.run(d) : null;
        HardLimit.@Nullable Scope ofTask = limited ? HardLimit.task(d, task.planKey()) : null;
        List<StepRow> following = new ArrayList<>();
        BigDecimal known = Amounts.ZERO;
        for (int i = task.cursor; i < task.steps.size() && following.size() < MAX_STEPS - 1; i++) {
            StepRow step = task.steps.get(i);
            if (step == first || step.state.terminal()) {
                continue;
            }
            known = known.add(d.funds.prices().toolPrice(step.spec().tool()));
            if (!SlotScheduling.idle(step) || step.asks() || !repeatable(d, step)
                    || !HardLimit.allows(ofRun, known) || !HardLimit.allows(ofTask, known)) {
                break;
            }
            following.add(step);
        }
        return following.isEmpty() ? Chain.NONE : new Chain(List.copyOf(following), limited);
    }

    /** True for a step of the plan whose tool has no effect, needs no queue, opens no secret and holds no credits. */
    private static boolean repeatable(Decision d, StepRow step) {
        return step.spec().kind() == StepKind.TOOL && step.lane() == 0 && step.spec().worstCase() == null
                && !step.spec().input().contains(SECRET)
                && d.capacity.chains(d.run.workspaceId(), step.spec().tool(), step.spec().input());
    }
}
