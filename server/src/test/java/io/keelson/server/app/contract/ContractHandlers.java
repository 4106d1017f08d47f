package io.keelson.server.app.contract;

import io.keelson.client.worker.ErrorClass;
import io.keelson.client.worker.StepContext;
import io.keelson.client.worker.StepDeferral;
import io.keelson.client.worker.StepFailure;
import io.keelson.client.worker.Turn;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Handlers of a case's workers, which act by a script, and their counters. */
final class ContractHandlers {
    private static final long LONG_SECONDS = 20;

    private final Map<String, Queue<JsonNode>> scripts = new HashMap<>();
    private final Map<String, Map<String, Integer>> counters = new HashMap<>();

    /** Has a handler execute these lists of actions in turn, the last one again and again. */
    synchronized void serve(String name, JsonNode executions) {
        scripts.computeIfAbsent(name, any -> new ArrayDeque<>(executions.valueStream().toList()));
    }

    synchronized int count(String name, String what) {
        return counters.getOrDefault(name, Map.of()).getOrDefault(what, 0);
    }

    private synchronized void add(String name, String what) {
        counters.computeIfAbsent(name, any -> new HashMap<>()).merge(what, 1, Integer::sum);
        notifyAll();
    }

    /** Waits until the counter has reached a number. */
    synchronized void await(String name, String what, int wanted) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LONG_SECONDS);
        while (count(name, what) < wanted) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                throw new AssertionError(name + " has " + counters.get(name) + ", not " + what + " " + wanted);
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }

    private synchronized JsonNode next(String name) {
        Queue<JsonNode> left = scripts.get(name);
        return left.size() > 1 ? left.remove() : left.element();
    }

    /** Executes a step of a tool. */
    Object tool(String name, StepContext step) throws Exception {
        return execute(name, step, null);
    }

    /** Takes a turn of an agent of the case; workers of other cases claim turns, too. */
    Turn.Answer agent(Turn turn) throws Exception {
        if (!scripts.containsKey(turn.agent())) {
            throw new StepDeferral(Duration.ofMillis(200), "agent:" + turn.agent(), null, "an agent of another case");
        }
        return (Turn.Answer) execute(turn.agent(), turn.step(), turn);
    }

    private Object execute(String name, StepContext step, @Nullable Turn turn) throws Exception {
        add(name, "begun");
        for (JsonNode action : next(name)) {
            Map.Entry<String, JsonNode> only = action.properties().iterator().next();
            JsonNode value = only.getValue();
            switch (only.getKey()) {
                case "return" -> {
                    return returned(name, ContractCase.javaValue(value));
                }
                case "echo" -> {
                    return returned(name, step.input().path(value.stringValue()));
                }
                case "return_details" -> {
                    return returned(name, step.previousDetails());
                }
                case "call_tool" -> {
                    return returned(name, Turn.call(value.path("tool").stringValue(), value.path("input")));
                }
                case "done_with_result" -> {
                    return returned(name, Turn.done(turn.transcript().getLast().results().getLast().output()));
                }
                case "done_with_error" -> {
                    return returned(name, Turn.done(turn.transcript().getLast().results().getLast().error()));
                }
                case "hold" -> hold(name);
                case "wait_ms" -> new CountDownLatch(1).await(value.intValue(), TimeUnit.MILLISECONDS);
                default -> act(only.getKey(), value, step);
            }
        }
        throw new AssertionError("the script of " + name + " has no end");
    }

    private Object returned(String name, Object value) {
        add(name, "returned");
        return value;
    }

    private void hold(String name) {
        try {
            new CountDownLatch(1).await(LONG_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            add(name, "cancelled");
        }
    }

    private static void act(String what, JsonNode value, StepContext step) throws StepFailure {
        switch (what) {
            case "fail" -> throw new StepFailure(value.path("code").stringValue(),
                    ErrorClass.valueOf(value.path("error_class").stringValue().toUpperCase(Locale.ROOT)),
                    value.path("message").stringValue());
            case "raise" -> throw new IllegalStateException(value.stringValue());
            case "busy_ms" -> {
                long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(value.longValue());
                while (System.nanoTime() < end) {
                    Thread.onSpinWait();
                }
            }
            case "details" -> step.details(value);
            case "log" -> step.log(value.stringValue());
            case "progress" -> step.progress(value.get(0).doubleValue(), value.get(1).stringValue());
            case "usage" -> step.usage(value.path("tokens").longValue(),
                    new BigDecimal(value.path("cost").stringValue()));
            case "artifact" -> step.artifact(value.path("name").stringValue(), value.path("content_type").stringValue(),
                    value.path("text").stringValue().getBytes(StandardCharsets.UTF_8));
            default -> throw new AssertionError("no action " + what);
        }
    }
}
