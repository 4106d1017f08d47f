package io.keelson.server.engine.execute;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Resolved inputs of steps that this node has assigned to workers, until their results arrive. Bounded: drops the
 * oldest first, and a report without its input here resolves it again.
 */
public final class HandedInputs {
    private static final long MAX_CHARS = 8L << 20;

    private record Lease(UUID step, int epoch) {}

    private final Map<Lease, String> inputs = new LinkedHashMap<>();
    private long chars;

    public synchronized void put(UUID step, int epoch, @Nullable String input) {
        if (input == null) {
            return;
        }
        String before = inputs.put(new Lease(step, epoch), input);
        chars += input.length() - (before == null ? 0 : before.length());
        var oldest = inputs.values().iterator();
        while (chars > MAX_CHARS && oldest.hasNext()) {
            chars -= oldest.next().length();
            oldest.remove();
        }
    }

    public synchronized @Nullable String take(UUID step, int epoch) {
        String input = inputs.remove(new Lease(step, epoch));
        chars -= input == null ? 0 : input.length();
        return input;
    }
}
