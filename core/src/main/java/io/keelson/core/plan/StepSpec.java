package io.keelson.core.plan;

import io.keelson.core.money.WorstCase;
import io.keelson.core.policy.RetryPolicy;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A step as the plan describes it.
 *
 * @param name unique within its task
 * @param tool the tool's name; that of {@link RunsOn} for turns, {@code approval} for approvals
 * @param input JSON text; strings in it may hold {@code ${ }} expressions
 * @param timeout how long one execution may take; {@link #OF_TASK} where only the time of its task counts
 * @param worstCase the most tokens that one execution may use; null when it is unknown
 */
public record StepSpec(String name, StepKind kind, String tool, String input, RetryPolicy retry, Duration timeout,
        @Nullable WorstCase worstCase) {

    /** The timeout of a step that ends with the time of its task. */
    public static final Duration OF_TASK = Duration.ZERO;

    /** The tool of a step of an undo that has a child run of the original undone, and waits for that. */
    public static final String UNDO_RUN = "run.undo";

    /** A step whose use of tokens is unknown. */
    public StepSpec(String name, StepKind kind, String tool, String input, RetryPolicy retry, Duration timeout) {
        this(name, kind, tool, input, retry, timeout, null);
    }

    /** True when the step starts a child run and waits for it: a step of a plan, or an agent's call that delegates. */
    public boolean startsRun() {
        return kind == StepKind.RUN && !undoesRun() || delegates();
    }

    /** True for a step of an undo that has a child run of the original undone. */
    public boolean undoesRun() {
        return kind == StepKind.RUN && tool.equals(UNDO_RUN);
    }

    /** True for a call by which an agent delegates a task. */
    public boolean delegates() {
        return kind == StepKind.CALL && tool.equals(AgentTerms.DELEGATE);
    }

    /** True when the engine itself executes the step, without a lease. */
    public boolean engineOwned() {
        return kind.engineOwned() || delegates();
    }

    /** A copy without the worst case that an execution computed: the next execution computes its own. */
    public StepSpec asPlanned() {
        return worstCase != null && worstCase.computed() ? within(null) : this;
    }

    /** A copy with the most tokens that one execution may use. */
    public StepSpec within(@Nullable WorstCase bound) {
        return new StepSpec(name, kind, tool, input, retry, timeout, bound);
    }
}
