package io.keelson.core.plan;

import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a task says about its own failing and about the judgement of its output.
 *
 * @param failureMode how it reacts to a step that finally failed; of a {@code for_each}: to a child
 * @param retry how often the whole task is tried again; null: as the run says
 * @param verify steps that judge the output, in order; empty: it is taken as it is
 * @param review true when a human has the last word on the output
 * @param timeout how long one attempt of the task may take; null: as the run says
 * @param agent on what terms its turns are taken; null: as any worker likes, and they may call no tools
 * @param label of a {@code for_each}: JSON text with expressions that makes the title of each item's task; null: the
 *     task's own title
 * @param thresholds by the name of a verifying step, 0 to 1: a human judges an output that it passes with a lower score, or
 *     with none
 */
public record TaskPolicy(FailureMode failureMode, @Nullable RetryPolicy retry, List<StepSpec> verify, boolean review,
        @Nullable Duration timeout, @Nullable AgentTerms agent, @Nullable String label,
        Map<String, BigDecimal> thresholds) {

    public static final TaskPolicy DEFAULT = new TaskPolicy(FailureMode.FAIL_FAST, null, List.of(), false, null);

    public TaskPolicy {
        verify = List.copyOf(verify);
        thresholds = Map.copyOf(thresholds);
    }

    /** Of a task that is no agent's. */
    public TaskPolicy(FailureMode failureMode, @Nullable RetryPolicy retry, List<StepSpec> verify, boolean review,
            @Nullable Duration timeout) {
        this(failureMode, retry, verify, review, timeout, null, null, Map.of());
    }

    /** With that label of its items. */
    public TaskPolicy labelled(@Nullable String template) {
        return new TaskPolicy(failureMode, retry, verify, review, timeout, agent, template, thresholds);
    }

    /** With those terms. */
    public TaskPolicy with(AgentTerms terms) {
        return new TaskPolicy(failureMode, retry, verify, review, timeout, terms, label, thresholds);
    }

    /** With those thresholds of its verifiers. */
    public TaskPolicy judged(Map<String, BigDecimal> least) {
        return new TaskPolicy(failureMode, retry, verify, review, timeout, agent, label, least);
    }
}
