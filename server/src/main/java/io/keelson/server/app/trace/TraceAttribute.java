package io.keelson.server.app.trace;

import java.util.Arrays;
import java.util.stream.Stream;

/** Every attribute that spans bear; docs/reference/traces.md is written from it. */
public enum TraceAttribute {
    RUN_ID("keelson.run.id", "run, task, step, model", "the run's id"),
    RUN_ATTEMPT("keelson.run.attempt", "run, task, step, model", "which attempt of the run, from 1"),
    RUN_NAME("keelson.run.name", "run", "the mission's name"), STATE("keelson.state", "run, task", "in which it ended"),
    TASK_ID("keelson.task.id", "task, step, model", "the task's id"),
    TASK_KEY("keelson.task.key", "task, step", "its id in the plan"),
    TASK_ATTEMPT("keelson.task.attempt", "task", "which attempt of the task, from 1"),
    STEP_ID("keelson.step.id", "step, model", "the step's id"),
    STEP_NAME("keelson.step.name", "step", "its name in the plan"),
    TOOL("keelson.tool", "step", "what executed it"),
    ATTEMPT("keelson.step.attempt", "step", "which attempt of the step, where the server that tells has seen it begin"),
    EPOCH("keelson.lease.epoch", "step, model", "which lease on the step, from 1"),
    HOLDER("keelson.lease.holder", "step", "the node or worker that held it"),
    OUTCOME("keelson.outcome", "step, deliver",
            "of a lease: `completed`, `continued` or `failed`; of a delivery: `delivered`, `failed`, `dead` or `gone`"),
    TOKENS("keelson.tokens", "step, model", "model tokens used, where there were any"),
    MODEL("gen_ai.request.model", "step, model", "the model charged for, where one was named"),
    OPERATION("gen_ai.operation.name", "task, step, model",
            "with `latest`: `invoke_agent` of a task, `chat`, `execute_tool` or `plan` of a step, `chat` or `embeddings` of a program's request"),
    AGENT("gen_ai.agent.name", "task, step", "with `latest`: the agent"),
    TOOL_NAME("gen_ai.tool.name", "step", "with `latest`: the tool that an agent's turn calls"),
    INPUT_TOKENS("gen_ai.usage.input_tokens", "step, model",
            "with `latest`: all tokens of input, cached ones included, on every wire"),
    CACHE_READ("gen_ai.usage.cache_read.input_tokens", "step, model",
            "with `latest`: those of them from the provider's cache"),
    CACHE_WRITE("gen_ai.usage.cache_creation.input_tokens", "step, model",
            "with `latest`: those of them that the cache kept"),
    OUTPUT_TOKENS("gen_ai.usage.output_tokens", "step, model", "with `latest`: tokens of output, reasoning included"),
    REASONING("gen_ai.usage.reasoning.output_tokens", "step, model", "with `latest`: those of them for reasoning"),
    HTTP_METHOD("http.request.method", "request, deliver", "of the request"),
    HTTP_ROUTE("http.route", "request", "the route's template; `unmatched` where no route has the path"),
    HTTP_STATUS("http.response.status_code", "request, deliver", "what was answered, where anybody did"),
    WEBHOOK_ID("keelson.webhook.id", "deliver", "the webhook's id"),
    ERROR_CODE("error.type", "run, task, step", "the error code, where it failed"),
    ERROR_CLASS("keelson.error.class", "task", "its kind, which decides on retries");

    private final String name;
    private final String spans;
    private final String meaning;

    TraceAttribute(String name, String spans, String meaning) {
        this.name = name;
        this.spans = spans;
        this.meaning = meaning;
    }

    /** As it is sent. */
    public String sent() {
        return name;
    }

    /** The kinds of span that may bear it: {@code run}, {@code task}, {@code step}, {@code model}, {@code request}, {@code deliver}. */
    public Stream<String> spans() {
        return Arrays.stream(spans.split(", "));
    }

    /** One phrase in Markdown, for the documentation. */
    public String meaning() {
        return meaning;
    }
}
