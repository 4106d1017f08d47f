package io.keelson.core.plan;

import io.keelson.core.money.Amounts;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A task's own rules for failures and for the judgement of its output.
 *
 * @param failureMode reaction to a step that finally failed; for a {@code for_each}: to a child
 * @param retry retry policy of the whole task; null: the run's
 * @param verify steps that judge the output, in order; empty: no verification
 * @param review true when a person decides about the output
 * @param timeout maximum duration of one attempt of the task; null: the run's
 * @param agent the terms of its turns; null: any worker, and no tools
 * @param label of a {@code for_each}: JSON text with expressions that makes the title of each item's task; null: the
 *              task's own title
 * @param thresholds by the name of a verifying step, 0 to 1: a person judges an output that it passes with a lower
 *                   score, or with none
 * @param budget maximum cost of its steps in all attempts of the run, in credits; of a {@code for_each}, of all items
 *               together; null for no limit
 * @param judges models among the verifying steps, by the steps' names
 * @param ladder the models of its retries, then what follows when these are used up, in order
 * @param untrusted true when its inputs may contain data from outside
 * @param unchained true when each of its steps is committed before the next one begins
 * @param repeat how it is done in rounds; null for a task that is done once
 * @param flow its place in the switches and groups of the plan; null outside of any
 * @param undo the calls that compensate it; null if absent
 * @param undoes the work that it compensates; null for a task that undoes nothing
 * @param approvals people who have to approve each of its questions, from 1; the run may require more
 * @param reuse the steps whose results may come from other runs; null if absent
 */
public record TaskPolicy(FailureMode failureMode, @Nullable RetryPolicy retry, List<StepSpec> verify, boolean review,
        @Nullable Duration timeout, @Nullable AgentTerms agent, @Nullable String label,
        Map<String, BigDecimal> thresholds, @Nullable BigDecimal budget, Map<String, Judge> judges, List<Rung> ladder,
        boolean untrusted, boolean unchained, @Nullable Repeat repeat, @Nullable Flow flow,
        @Nullable Undo undo, @Nullable Undoes undoes, int approvals,
        @Nullable Reuse reuse) {

    public static final TaskPolicy DEFAULT = new TaskPolicy(FailureMode.FAIL_FAST, null, List.of(), false, null);

    public TaskPolicy {
        verify = List.copyOf(verify);
        thresholds = Map.copyOf(thresholds);
        judges = Map.copyOf(judges);
        ladder = List.copyOf(ladder);
        budget = budget == null ? null : Amounts.of(budget);
    }

    /** The policy of a task without an agent. */
    public TaskPolicy(FailureMode failureMode, @Nullable RetryPolicy retry, List<StepSpec> verify, boolean review,
            @Nullable Duration timeout) {
        this(failureMode, retry, verify, review, timeout, null, null, Map.of(), null, Map.of(), List.of(), false,
                false, null, null, null, null, 1, null);
    }

    /**
     * The number of the rung of its ladder in force, from 1: the last whose turn the task has; 0 before the first that
     * changes the task's agent.
     *
     * @param turns names of the task's turns
     */
    public int rung(Predicate<String> turns) {
        for (int i = ladder.size(); i > 0; i--) {
            StepSpec turn = ladder.get(i - 1).turn();
            if (turn != null && turns.test(turn.name())) {
                return i;
            }
        }
        return 0;
    }

    /** The terms of the agent that does the task on that rung; null if absent. */
    public @Nullable AgentTerms agentOn(int rung) {
        return rung == 0 ? agent : ladder.get(rung - 1).agent();
    }

    /** A copy with that label of its items. */
    public TaskPolicy labelled(@Nullable String template) {
        return new TaskPolicy(failureMode, retry, verify, review, timeout, agent, template, thresholds, budget,
                judges, ladder, untrusted, unchained, repeat, flow, undo, undoes, approvals, reuse);
    }

    /** A copy with those terms. */
    public TaskPolicy with(AgentTerms terms) {
        return new TaskPolicy(failureMode, retry, verify, review, timeout, terms, label, thresholds, budget,
                judges, ladder, untrusted, unchained, repeat, flow, undo, undoes, approvals, reuse);
    }

    /** A copy with those thresholds of its verifiers. */
    public TaskPolicy withThresholds(Map<String, BigDecimal> least) {
        return new TaskPolicy(failureMode, retry, verify, review, timeout, agent, label, least, budget, judges,
                ladder, untrusted, unchained, repeat, flow, undo, undoes, approvals, reuse);
    }

    /** A copy with that budget. */
    public TaskPolicy costing(@Nullable BigDecimal most) {
        return new TaskPolicy(failureMode, retry, verify, review, timeout, agent, label, thresholds, most,
                judges, ladder, untrusted, unchained, repeat, flow, undo, undoes, approvals, reuse);
    }

    /** A copy with those models among its verifiers. */
    public TaskPolicy judgedBy(Map<String, Judge> models) {
        return new TaskPolicy(failureMode, retry, verify, review, timeout, agent, label, thresholds, budget, models,
                ladder, untrusted, unchained, repeat, flow, undo, undoes, approvals, reuse);
    }

    /** A copy with that ladder. */
    public TaskPolicy climbing(List<Rung> rungs) {
        return new TaskPolicy(failureMode, retry, verify, review, timeout, agent, label, thresholds, budget, judges,
                rungs, untrusted, unchained, repeat, flow, undo, undoes, approvals, reuse);
    }

    /** A copy whose inputs may or may not contain data from outside. */
    public TaskPolicy untrusted(boolean outside) {
        return new TaskPolicy(failureMode, retry, verify, review, timeout, agent, label, thresholds, budget, judges,
                ladder, outside, unchained, repeat, flow, undo, undoes, approvals, reuse);
    }

    /** A copy whose steps are, or are not, each committed before the next one begins. */
    public TaskPolicy unchained(boolean each) {
        return new TaskPolicy(failureMode, retry, verify, review, timeout, agent, label, thresholds, budget, judges,
                ladder, untrusted, each, repeat, flow, undo, undoes, approvals, reuse);
    }

    /** A copy that is done in those rounds. */
    public TaskPolicy repeated(@Nullable Repeat rounds) {
        return new TaskPolicy(failureMode, retry, verify, review, timeout, agent, label, thresholds, budget, judges,
                ladder, untrusted, unchained, rounds, flow, undo, undoes, approvals, reuse);
    }

    /** A copy at that place of the plan. */
    public TaskPolicy at(@Nullable Flow place) {
        return new TaskPolicy(failureMode, retry, verify, review, timeout, agent, label, thresholds, budget, judges,
                ladder, untrusted, unchained, repeat, place, undo, undoes, approvals, reuse);
    }

    /** A copy with those calls that compensate it. */
    public TaskPolicy undoneBy(@Nullable Undo calls) {
        return new TaskPolicy(failureMode, retry, verify, review, timeout, agent, label, thresholds, budget, judges,
                ladder, untrusted, unchained, repeat, flow, calls, undoes, approvals, reuse);
    }

    /** A copy that compensates that work. */
    public TaskPolicy undoing(@Nullable Undoes original) {
        return new TaskPolicy(failureMode, retry, verify, review, timeout, agent, label, thresholds, budget, judges,
                ladder, untrusted, unchained, repeat, flow, undo, original, approvals, reuse);
    }

    /** A copy that requires that number of people for each question. */
    public TaskPolicy approvedBy(int people) {
        return new TaskPolicy(failureMode, retry, verify, review, timeout, agent, label, thresholds, budget, judges,
                ladder, untrusted, unchained, repeat, flow, undo, undoes, people, reuse);
    }

    /** A copy of whose steps those may take over results. */
    public TaskPolicy reusing(@Nullable Reuse results) {
        return new TaskPolicy(failureMode, retry, verify, review, timeout, agent, label, thresholds, budget, judges,
                ladder, untrusted, unchained, repeat, flow, undo, undoes, approvals, results);
    }

    /** Whether a step of that name may take over a result of another run. */
    public boolean reuses(String step) {
        return reuse != null && reuse.steps().containsKey(step);
    }
}
