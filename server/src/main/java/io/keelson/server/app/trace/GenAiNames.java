package io.keelson.server.app.trace;

import io.keelson.core.decide.StepRow;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.money.Tokens;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.StepKind;
import io.opentelemetry.api.trace.SpanBuilder;
import org.jspecify.annotations.Nullable;

/**
 * Names and attributes of a span by OpenTelemetry's conventions for generative AI. None of them is content.
 *
 * @param operation null for a span that the conventions do not know
 * @param subject the model, tool or agent; null if absent
 */
record GenAiNames(@Nullable String operation, @Nullable String subject, @Nullable String agent) {
    static final GenAiNames NONE = new GenAiNames(null, null, null);

    private static final String CALL = "execute_tool";

    /** @param model that the step has used; null if absent */
    static GenAiNames of(StepRow step, @Nullable String model) {
        String agent = agent(step.task());
        if (step.spec().tool().equals("model.plan")) {
            return new GenAiNames("plan", null, agent);
        }
        if (step.spec().kind() == StepKind.CALL) {
            return new GenAiNames(CALL, step.spec().tool(), agent);
        }
        return step.spec().kind() == StepKind.TURN || model != null ? new GenAiNames("chat", model, agent) : NONE;
    }

    static GenAiNames of(TaskRow task) {
        String agent = agent(task);
        boolean turns = task.spec().steps().stream().allMatch(step -> step.kind() == StepKind.TURN);
        return agent == null || !turns ? NONE : new GenAiNames("invoke_agent", agent, agent);
    }

    private static @Nullable String agent(TaskRow task) {
        AgentTerms terms = task.spec().policy().agent();
        return terms == null ? null : terms.slug();
    }

    /** The span's name. */
    String or(String other) {
        return operation == null ? other : subject == null ? operation : operation + " " + subject;
    }

    void describe(SpanBuilder span, Tokens tokens) {
        if (operation == null) {
            return;
        }
        Spans.put(span, TraceAttribute.OPERATION, operation);
        Spans.put(span, TraceAttribute.AGENT, agent);
        Spans.put(span, TraceAttribute.TOOL_NAME, operation.equals(CALL) ? subject : null);
        if (!tokens.none()) {
            span.setAttribute(TraceAttribute.INPUT_TOKENS.sent(),
                    tokens.input() + tokens.cacheRead() + tokens.cacheWrite());
            span.setAttribute(TraceAttribute.CACHE_READ.sent(), tokens.cacheRead());
            span.setAttribute(TraceAttribute.CACHE_WRITE.sent(), tokens.cacheWrite());
            span.setAttribute(TraceAttribute.OUTPUT_TOKENS.sent(), tokens.output());
            span.setAttribute(TraceAttribute.REASONING.sent(), tokens.reasoning());
        }
    }
}
