package io.keelson.server.engine;

import io.keelson.core.policy.Effects;
import io.keelson.server.engine.tool.SlotKind;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.node.JsonNodeFactory;

/** A tool that says when it is entered and stays until it is let go: races are held open at this point. */
final class GateTool implements Tool {
    final Semaphore entered = new Semaphore(0);
    final Semaphore open = new Semaphore(0);
    final CountDownLatch interrupted = new CountDownLatch(1);
    private final String name;
    private final SlotKind slot;

    GateTool() {
        this("test.gate", SlotKind.COMPUTING);
    }

    GateTool(String name, SlotKind slot) {
        this.name = name;
        this.slot = slot;
    }

    @Override
    public ToolSpec spec() {
        var any = JsonNodeFactory.instance.objectNode();
        return new ToolSpec(name, "Waits for the test", any, any, Duration.ofSeconds(60), false, slot, Effects.READ);
    }

    @Override
    public ToolResult execute(ToolCall call) throws InterruptedException {
        entered.release();
        try {
            open.acquire();
        } catch (InterruptedException e) {
            interrupted.countDown();
            throw e;
        }
        return ToolResult.of(JsonNodeFactory.instance.stringNode("passed"));
    }

    void awaitEntered(int times) throws InterruptedException {
        if (!entered.tryAcquire(times, 20, TimeUnit.SECONDS)) {
            throw new AssertionError("the tool was not entered " + times + " times");
        }
    }
}
