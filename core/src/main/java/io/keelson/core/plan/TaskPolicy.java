package io.keelson.core.plan;

import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import java.time.Duration;
import java.util.List;
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
 */
public record TaskPolicy(FailureMode failureMode, @Nullable RetryPolicy retry, List<StepSpec> verify, boolean review,
        @Nullable Duration timeout, @Nullable AgentTerms agent, @Nullable String label) {

    public static final TaskPolicy DEFAULT = new TaskPolicy(FailureMode.FAIL_FAST, null, List.of(), false, null);

    public TaskPolicy {
        verify = List.copyOf(verify);
    }

    /** Of a task that is no agent's. */
    public TaskPolicy(FailureMode failureMode, @Nullable RetryPolicy retry, List<StepSpec> verify, boolean review,
            @Nullable Duration timeout) {
        this(failureMode, retry, verify, review, timeout, null, null);
    }

    /** With that label of its items. */
    public TaskPolicy labelled(@Nullable String template) {
        return new TaskPolicy(failureMode, retry, verify, review, timeout, agent, template);
    }

    /** With those terms. */
    public TaskPolicy with(AgentTerms terms) {
        return new TaskPolicy(failureMode, retry, verify, review, timeout, terms, label);
    }
}
