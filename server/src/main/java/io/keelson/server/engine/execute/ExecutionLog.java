package io.keelson.server.engine.execute;

import io.keelson.server.engine.live.LiveText;
import io.keelson.server.engine.tool.StepLog;
import io.keelson.server.tenant.secret.Redaction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The log of one execution, without its secrets. A text that arrives in parts could have a secret in two of them: an execution
 * with secrets shows no such text.
 */
final class ExecutionLog implements StepLog, AutoCloseable {
    private final StepLog lines;
    private final Redaction redaction;
    private final Supplier<LiveText> texts;
    private @Nullable LiveText text;
    private boolean closed;

    /** @param texts begins the execution's text */
    ExecutionLog(StepLog lines, Redaction redaction, Supplier<LiveText> texts) {
        this.lines = lines;
        this.redaction = redaction;
        this.texts = texts;
    }

    @Override
    public void line(String line) {
        lines.line(redaction.text(line));
    }

    @Override
    public synchronized void answer(String part) {
        if (redaction.none() && !closed) {
            if (text == null) {
                text = texts.get();
            }
            text.append(part);
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (text != null) {
            text.close();
        }
    }
}
