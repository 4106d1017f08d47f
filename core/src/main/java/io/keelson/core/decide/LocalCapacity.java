package io.keelson.core.decide;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.run.VersionRule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Capacity of the deciding node's own executors, and of workers whose claims wait at it, so that ready work need
 * not pass through the queue. Nothing is offered while other work waits in the queue, to keep order and fairness.
 */
public final class LocalCapacity {

    /** Concurrency limits, which keep work from starting past the queue. */
    public interface Limits {

        /** No limits. */
        Limits NONE = new Limits() {
            @Override
            public boolean limited(UUID workspace) {
                return false;
            }

            @Override
            public boolean limited(UUID workspace, String tool, String input, @Nullable String agent) {
                return false;
            }
        };

        /** Whether a workspace's new lanes must queue, because claims count them. */
        boolean limited(UUID workspace);

        /**
         * Whether each step with this tool, its input's model or this agent must queue, even in a lane that a node already holds.
         *
         * @param input JSON text
         * @param agent of the roster; null if absent
         */
        boolean limited(UUID workspace, String tool, String input, @Nullable String agent);
    }

    /** The slots of the node's executors, of which a lane uses one at a time. There may be several kinds. */
    public interface Slots {

        /** Takes one permanently for a call of the tool, if available. */
        boolean take(String tool);

        /** True when a call of the tool may follow in the slot that the lane uses, which the node holds. */
        boolean fits(Lane lane, String tool);

        /** True when a call of the tool has no effect, computes, and may be repeated: such steps can be one chain. */
        default boolean chains(String tool) {
            return false;
        }
    }

    /** The rules that give the steps of tools to versions of workers. */
    public interface Versions {

        /** No rules: all workers are alike. */
        Versions NONE = (workspace, tool) -> null;

        /** The rule of a tool in a workspace; null if it has none. */
        @Nullable VersionRule of(UUID workspace, String tool);
    }

    /** A free slot of a remote worker whose claim waits for work at the deciding node. */
    public interface RemoteSlot {

        /** The worker. */
        String holder();

        /** How long the lease of its step lasts without a heartbeat. */
        Duration lease();

        /** Tools without effects, consecutive steps of which the worker executes one after another. */
        default Set<String> chained() {
            return Set.of();
        }

        /** The version of the worker. */
        default String version() {
            return VersionRule.UNVERSIONED;
        }
    }

    /** The slots of all claims that wait at the deciding node. */
    public interface RemoteSlots {

        /** No claims. */
        RemoteSlots NONE = (workspace, tool, version) -> null;

        /**
         * Takes one for a step of the workspace with that tool; null where none is free.
         *
         * @param version whose workers may have the step; null for any
         */
        @Nullable RemoteSlot take(UUID workspace, String tool, @Nullable String version);
    }

    private final @Nullable String holder;
    private final Predicate<String> tools;
    private final Duration lease;
    private final Slots slots;
    private final RemoteSlots remote;
    private final Limits limits;
    private final Versions versions;
    private final List<String> taken = new ArrayList<>();
    private final List<RemoteSlot> takenRemotely = new ArrayList<>();
    private @Nullable String executed;

    /**
     * @param holder the node; null when nothing is offered
     * @param slots asked for each lane that could be started, or continued in a slot of another kind
     * @param remote asked for each lane that could be started and is not
     * @param tools the tools that the node's executors run
     */
    public LocalCapacity(@Nullable String holder, Predicate<String> tools, Duration lease, Slots slots,
            RemoteSlots remote, Limits limits, Versions versions) {
        this.holder = holder;
        this.tools = tools;
        this.lease = lease;
        this.slots = slots;
        this.remote = remote;
        this.limits = limits;
        this.versions = versions;
    }

    /** That many slots of one kind, without limits. */
    public LocalCapacity(@Nullable String holder, Predicate<String> tools, Duration lease, int slots) {
        this.holder = holder;
        this.tools = tools;
        this.lease = lease;
        this.slots = new Slots() {
            @Override
            public boolean take(String tool) {
                return taken.size() < slots;
            }

            @Override
            public boolean fits(Lane lane, String tool) {
                return true;
            }

            @Override
            public boolean chains(String tool) {
                return true;
            }
        };
        this.remote = RemoteSlots.NONE;
        this.limits = Limits.NONE;
        this.versions = Versions.NONE;
    }

    /** An offer of nothing. */
    public static LocalCapacity none() {
        return new LocalCapacity(null, tool -> false, Duration.ZERO, 0);
    }

    /** True for the offering node, if its executors run the tool. */
    boolean runs(String laneHolder, String tool) {
        return laneHolder.equals(holder) && tools.test(tool);
    }

    /** Whether executors of nodes run the tool, as far as this node knows. */
    boolean serves(String tool) {
        return tools.test(tool);
    }

    /** True when the offering node continues with the next step of a lane that it holds. May take a slot. */
    boolean keeps(String laneHolder, Lane lane, String tool) {
        return runs(laneHolder, tool) && (slots.fits(lane, tool) || takeSlot(tool));
    }

    /** True when the offering node may execute the step before a commit has recorded the step before it. */
    boolean chains(UUID workspace, StepRow step) {
        String tool = step.spec().tool();
        return tools.test(tool) && slots.chains(tool) && !queues(workspace, step);
    }

    /** Whether a step must queue although its lane has a holder. */
    boolean queues(UUID workspace, StepRow step) {
        return limits.limited(workspace, step.spec().tool(), step.spec().input(), Rungs.agent(step.task()));
    }

    /** Takes a slot for a new lane of the workspace if one is available for that tool. */
    boolean take(UUID workspace, String tool) {
        return holder != null && tools.test(tool) && !limits.limited(workspace) && takeSlot(tool);
    }

    /** The rule that gives the steps of a tool to versions of workers; null if absent. */
    @Nullable VersionRule version(UUID workspace, String tool) {
        return versions.of(workspace, tool);
    }

    /**
     * Takes a slot of a remote worker with a waiting claim; null if none is available.
     *
     * @param version of the worker; null for any
     */
    @Nullable RemoteSlot takeRemotely(UUID workspace, String tool, @Nullable String version) {
        RemoteSlot slot = limits.limited(workspace) ? null : remote.take(workspace, tool, version);
        if (slot != null) {
            takenRemotely.add(slot);
        }
        return slot;
    }

    /**
     * The node executes the first step of the run that is decided next, in a slot that it has.
     *
     * @param tool of the step; null for any other command
     */
    public void executes(@Nullable String tool) {
        executed = tool;
    }

    private boolean takeSlot(String tool) {
        if (tool.equals(executed)) {
            executed = null;
            return true;
        }
        if (!slots.take(tool)) {
            return false;
        }
        taken.add(tool);
        return true;
    }

    String holder() {
        if (holder == null) {
            throw new IllegalStateException("nothing was offered");
        }
        return holder;
    }

    Duration lease() {
        return lease;
    }

    /** The tool of each slot that was taken. */
    public List<String> takenTools() {
        return List.copyOf(taken);
    }

    /** The slots of workers that were taken. */
    public List<RemoteSlot> takenRemotely() {
        return List.copyOf(takenRemotely);
    }
}
