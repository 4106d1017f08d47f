package io.keelson.core.decide;

import io.keelson.core.money.Amounts;
import io.keelson.core.run.Command;
import io.keelson.core.run.OtherPayload;
import io.keelson.core.run.Reply;
import java.math.BigDecimal;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Budgets of child runs whose parent has a limit. The parent's view decides a budget and writes it first; the child is
 * informed afterwards and never of a smaller one than before. So after any crash the parent counts on no less than its
 * children may cost.
 */
final class ChildBudgets {
    private ChildBudgets() {}

    /**
     * The budget of a child about to start: what its parent's limit leaves, or less if its step or its own mission says
     * so; null for no limit.
     */
    static @Nullable BigDecimal of(@Nullable BigDecimal room, Command.Evaluation.Starts starts) {
        BigDecimal least = least(least(room, starts.budget()), starts.run().policy().budget().hardLimit());
        return least == null ? null : Amounts.floor(least);
    }

    private static @Nullable BigDecimal least(@Nullable BigDecimal one, @Nullable BigDecimal other) {
        return one == null ? other : other == null ? one : one.min(other);
    }

    /** True when an open child of the run has no bound on its cost. */
    static boolean unbounded(Decision d) {
        return d.view.children.values().stream().anyMatch(child -> !child.ended() && child.allotment() == null);
    }

    /** Raises a child's budget if the parent's own limit leaves enough. */
    static Reply allot(Decision d, Command.AddChildBudget command) {
        Optional<ChildRow> found = d.view.children.values().stream()
                .filter(child -> child.runId().equals(command.childId()) && !child.ended()).findFirst();
        if (found.isEmpty() || d.run.state.terminal()) {
            return rejection(d, "the run that started it, " + d.run.id() + ", has ended or waits for it no longer");
        }
        ChildRow child = found.get();
        BigDecimal amount = Amounts.of(command.amount());
        BigDecimal has = child.allotment();
        if (has == null || has.compareTo(amount) >= 0) {
            return Reply.UNCHANGED;
        }
        BigDecimal room = HardLimit.roomForChild(d, child.task());
        if (room != null && room.compareTo(amount.subtract(has)) < 0) {
            return rejection(d, "the run that started it, " + d.run.id() + ", can allow it "
                    + Amounts.text(has.add(room.max(Amounts.ZERO))) + " credits; raise the limit of that one"
                    + (d.view.budgets.containsKey(child.task()) ? ", or the budget of its task '" + child.task() + "',"
                            : "")
                    + " first");
        }
        ChildLinks.put(d, child.allotted(amount));
        StepRow step = d.view.steps.get(child.stepId());
        d.note(step == null ? null : step.task(), step, new OtherPayload.ChildRunAllotted(child.runId(), amount));
        return Reply.CHANGED;
    }

    private static Reply.Rejected rejection(Decision d, String why) {
        return new Reply.Rejected("PARENT_BUDGET_EXCEEDED", why, d.run.state.wire(), List.of());
    }

    /** A child receives its budget. */
    static Reply receive(Decision d, Command.ChildBudgetAdded command) {
        ParentRow parent = d.run.parent;
        if (parent == null || parent.allotment() == null || d.run.state.terminal()
                || Objects.requireNonNull(parent.allotment()).compareTo(command.amount()) >= 0) {
            return Reply.UNCHANGED;
        }
        ChildLinks.parentChanged(d, parent.allotted(Amounts.of(command.amount())));
        return Reply.CHANGED;
    }
}
