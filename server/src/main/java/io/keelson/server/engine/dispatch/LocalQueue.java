package io.keelson.server.engine.dispatch;

import io.keelson.core.decide.ChangeSet.QueueItem;
import io.keelson.server.engine.tool.SlotKind;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;

/** An upper bound of the queued work for this node's own tools, by the kind of slot that it needs. Thread-safe. */
public final class LocalQueue {
    private final Predicate<String> tools;
    private final Function<String, SlotKind> slots;
    private final Map<SlotKind, Kind> kinds = new EnumMap<>(SlotKind.class);

    /** Work for slots of one kind. */
    private static final class Kind {
        /** Items that this node has queued. */
        private long queued;
        /** The part of them that the last search of the queue must have found. */
        private long accounted;
        private boolean moreThanKnown = true;

        private int waiting() {
            return moreThanKnown ? Integer.MAX_VALUE : (int) Math.min(Integer.MAX_VALUE, queued - accounted);
        }
    }

    /**
     * @param tools the tools that this node's executors run
     * @param slots the kind of slot that a call of a tool uses
     */
    LocalQueue(Predicate<String> tools, Function<String, SlotKind> slots) {
        this.tools = tools;
        this.slots = slots;
        for (SlotKind kind : SlotKind.values()) {
            kinds.put(kind, new Kind());
        }
    }

    /** This node has queued these items. */
    synchronized void add(Collection<QueueItem> items) {
        for (QueueItem item : items) {
            if (tools.test(item.tool())) {
                kind(slots.apply(item.tool())).queued++;
            }
        }
    }

    /** Items of the kind that this node has queued so far, for {@link #looked}. */
    public synchronized long queued(SlotKind kind) {
        return kind(kind).queued;
    }

    /**
     * A search has found work of the kind, which it will be asked to claim.
     *
     * @param queuedBefore {@link #queued} before the search
     * @param all whether it found all work within the limits
     */
    public synchronized void looked(SlotKind kind, long queuedBefore, boolean all) {
        kind(kind).accounted = queuedBefore;
        kind(kind).moreThanKnown = !all;
    }

    /** Maximum queued work of the kind: that many slots must stay free for it. */
    public synchronized int waiting(SlotKind kind) {
        return kind(kind).waiting();
    }

    private Kind kind(SlotKind kind) {
        return Objects.requireNonNull(kinds.get(kind));
    }
}
