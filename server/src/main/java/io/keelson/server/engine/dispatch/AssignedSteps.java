package io.keelson.server.engine.dispatch;

import io.keelson.server.engine.store.read.StepWorkReader.Owner;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Steps that this node has assigned to workers, until their results arrive. Bounded: drops the oldest first, and a report
 * about a step that is not here reads it.
 */
final class AssignedSteps {
    private static final long MAX_CHARS = 8L << 20;
    /** Characters of a step without texts. */
    private static final int LEAST_CHARS = 200;

    private record Lease(UUID workspace, UUID step, int epoch) {}

    /** @param input resolved, as it is recorded; null where it has no expressions */
    private record Assigned(Owner owner, @Nullable String input) {

        private int chars() {
            return LEAST_CHARS + length(owner.input()) + length(input);
        }

        private static int length(@Nullable String text) {
            return text == null ? 0 : text.length();
        }
    }

    private final Map<Lease, Assigned> steps = new LinkedHashMap<>();
    private long chars;

    synchronized void put(UUID workspace, UUID step, int epoch, Owner owner, @Nullable String input) {
        Assigned assigned = new Assigned(owner, input);
        Assigned before = steps.put(new Lease(workspace, step, epoch), assigned);
        chars += assigned.chars() - (before == null ? 0 : before.chars());
        var oldest = steps.values().iterator();
        while (chars > MAX_CHARS && oldest.hasNext()) {
            chars -= oldest.next().chars();
            oldest.remove();
        }
    }

    /** The owner of a step; null if this node did not assign the step. */
    synchronized @Nullable Owner owner(UUID workspace, UUID step, int epoch) {
        Assigned assigned = steps.get(new Lease(workspace, step, epoch));
        return assigned == null ? null : assigned.owner;
    }

    /** Removes the step and returns its resolved input; null where it has none, or is not here. */
    synchronized @Nullable String take(UUID workspace, UUID step, int epoch) {
        Assigned assigned = steps.remove(new Lease(workspace, step, epoch));
        if (assigned == null) {
            return null;
        }
        chars -= assigned.chars();
        return assigned.input;
    }
}
