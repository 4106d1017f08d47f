package io.keelson.test;

import io.keelson.client.worker.ErrorClass;
import io.keelson.client.worker.StepContext;
import io.keelson.client.worker.StepFailure;
import io.keelson.client.worker.StepHandler;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A tool whose answers a test scripts: first from a queue, then from a function. A call without an answer fails
 * its step for good with {@code NOT_SCRIPTED}. Safe for use by many threads.
 */
public final class ScriptedTool {

    /**
     * One execution of a step by this tool.
     *
     * @param effectKey equal in all executions of a step
     * @param attempt from 1
     */
    public record Call(JsonNode input, String effectKey, int attempt) {}

    private final String name;
    private final Queue<StepHandler> queue = new ArrayDeque<>();
    private final List<Call> calls = new ArrayList<>();
    private @Nullable StepHandler function;

    ScriptedTool(String name) {
        this.name = name;
    }

    /** Adds outputs to the queue, one for each call: any values that Jackson can write. */
    public synchronized ScriptedTool returns(@Nullable Object... outputs) {
        for (Object output : outputs) {
            queue.add(step -> output);
        }
        return this;
    }

    /** Adds a failure to the queue that is tried again. */
    public ScriptedTool fails(String code) {
        return fails(code, ErrorClass.INFRASTRUCTURE);
    }

    /** Adds a failure to the queue. */
    public synchronized ScriptedTool fails(String code, ErrorClass errorClass) {
        queue.add(step -> {
            throw new StepFailure(code, errorClass, "a failure of the test");
        });
        return this;
    }

    /** Answers calls for which the queue has no answer. */
    public synchronized ScriptedTool answers(StepHandler handler) {
        function = handler;
        return this;
    }

    /** The tool's name. */
    public String name() {
        return name;
    }

    /** All calls, the oldest first. */
    public synchronized List<Call> calls() {
        return List.copyOf(calls);
    }

    /**
     * Checks how often the tool was called. A step that is executed again after a failure or a crash counts again.
     *
     * @throws AssertionError with the calls, if the number is another one
     */
    public ScriptedTool assertCalls(int number) {
        if (calls().size() != number) {
            throw new AssertionError(name + " was called " + calls().size() + " times, not " + number + ": " + calls());
        }
        return this;
    }

    /**
     * Checks how many different effects the calls have: an external system with effect keys executes each once.
     *
     * @throws AssertionError with the calls, if the number is another one
     */
    public ScriptedTool assertEffects(int number) {
        long effects = calls().stream().map(Call::effectKey).distinct().count();
        if (effects != number) {
            throw new AssertionError(name + " had " + effects + " effects, not " + number + ": " + calls());
        }
        return this;
    }

    /** Removes all answers and recorded calls. */
    synchronized void clear() {
        queue.clear();
        calls.clear();
        function = null;
    }

    /** Executes a step. */
    @Nullable Object call(StepContext step) throws Exception {
        StepHandler handler;
        synchronized (this) {
            calls.add(new Call(step.input(), step.effectKey(), step.attempt()));
            handler = queue.isEmpty() ? function : queue.remove();
        }
        if (handler == null) {
            throw new StepFailure("NOT_SCRIPTED", ErrorClass.PERMANENT,
                    "the test has scripted no answer of " + name + " to " + step.input());
        }
        return handler.handle(step);
    }
}
