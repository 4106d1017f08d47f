package io.keelson.core.decide;

import io.keelson.core.decide.ChangeSet.Chain;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Amounts;
import io.keelson.core.plan.StepKind;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The steps that a node or a worker executes one after another before a commit records the first one's end. Each of them would begin in the
 * commit that ends the step before it, in the same slot, by the rules of {@link SlotScheduling#open}. Its execution may be repeated,
 * because its tool has no effect.
 */
final class Chains {
    /** The number of steps in one chain, the first included. Then the lane goes behind waiting work of others. */
    static final int MAX_STEPS = 64;
    /** Part of every expression that opens a secret. */
    private static final String SECRET = "secret";

    private Chains() {}

    /**
     * The steps that a worker may execute after a claimed one, before it reports. Unlike a node it has no outputs of steps that are
     * not recorded, so it gets no step whose input needs one: the server resolves all inputs when it sends the assignment.
     *
     * @param tools without effects, which the worker serves
     * @param version of the worker; null for an executor of a node
     */
    static List<StepRow> ofWorker(Decision d, StepRow first, Set<String> tools,
            @Nullable String version) {
        TaskRow task = first.task();
        Predicate<StepRow> repeatable = step -> plain(step) && tools.contains(step.spec().tool())
                && Versions.serves(d, step.spec().tool(), version)
                && !d.capacity.queues(d.run.workspaceId(), step);
        if (!begins(d, first, repeatable) || HardLimit.mayHoldBack(d, task)) {
            return List.of();
        }
        return following(first, step -> step.leaseEpoch == 0 && repeatable.test(step));
    }

    /** The chain that begins with a step that the deciding node has claimed. */
    static Chain after(Decision d, StepRow first) {
        TaskRow task = first.task();
        if (!begins(d, first, step -> repeatable(d, step))) {
            return Chain.NONE;
        }
        boolean limited = HardLimit.mayHoldBack(d, task);
        HardLimit.@Nullable Scope ofRun = limited ? HardLimit.run(d) : null;
        HardLimit.@Nullable Scope ofTask = limited ? HardLimit.task(d, task.planKey()) : null;
        BigDecimal[] known = {Amounts.ZERO};
        List<StepRow> following = following(first, step -> {
            known[0] = known[0].add(d.funds.prices().toolPrice(step.spec().tool()));
            return repeatable(d, step) && HardLimit.allows(ofRun, known[0]) && HardLimit.allows(ofTask, known[0]);
        });
        return new Chain(following, limited, true);
    }

    /**
     * The steps of the chain that begins when the deciding node claims the lane. Empty unless the first one waits for its first
     * claim and no limit may hold a step back.
     */
    static List<StepRow> ofUnclaimed(Decision d, TaskRow task) {
        StepRow first = SlotScheduling.queuedStep(task, 0);
        if (first == null || !d.carriedOut() || task.spec().policy().unchained() || first.state != StepState.PENDING
                || first.isHeld() || first.leaseEpoch != 0 || !repeatable(d, first) || HardLimit.mayHoldBack(d, task)) {
            return List.of();
        }
        List<StepRow> steps = new ArrayList<>(List.of(first));
        steps.addAll(following(first, step -> repeatable(d, step)));
        return steps;
    }

    private static boolean begins(Decision d, StepRow first, Predicate<StepRow> repeatable) {
        TaskRow task = first.task();
        return d.carriedOut() && task.state == TaskState.RUNNING && !task.spec().policy().unchained()
                && first.state == StepState.RUNNING && first.hold == null && repeatable.test(first);
    }

    /** The open steps behind the first one, as far as they may follow. */
    private static List<StepRow> following(StepRow first, Predicate<StepRow> mayFollow) {
        TaskRow task = first.task();
        List<StepRow> following = new ArrayList<>();
        for (int i = task.cursor; i < task.steps.size() && following.size() < MAX_STEPS - 1; i++) {
            StepRow step = task.steps.get(i);
            if (step == first || step.state.terminal()) {
                continue;
            }
            if (!SlotScheduling.idle(step) || step.asks() || step.reuses() || !mayFollow.test(step)) {
                break;
            }
            following.add(step);
        }
        return List.copyOf(following);
    }

    /** True for a step of the plan whose tool has no effect, needs no queue, opens no secret and holds no credits. */
    private static boolean repeatable(Decision d, StepRow step) {
        return plain(step) && d.capacity.chains(d.run.workspaceId(), step);
    }

    private static boolean plain(StepRow step) {
        return step.spec().kind() == StepKind.TOOL && step.lane() == 0 && step.spec().worstCase() == null
                && !step.spec().input().contains(SECRET);
    }
}
