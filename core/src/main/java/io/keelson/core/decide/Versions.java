package io.keelson.core.decide;

import io.keelson.core.decide.ChangeSet.Lot;
import io.keelson.core.decide.ChangeSet.Pin;
import io.keelson.core.plan.VersionBehavior;
import io.keelson.core.run.VersionRule;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Which version of workers may claim a step: that of the run's first claim of the tool if the rule of the tool pins runs, else the
 * version that the rule gives now. A claim decides by the run's view, so two claims at a time never pin a run to two versions.
 */
final class Versions {
    private Versions() {}

    /** The version whose workers may claim a step of the tool; null if all may. */
    static @Nullable String target(Decision d, String tool) {
        VersionRule rule = d.capacity.version(d.run.workspaceId(), tool);
        return rule == null ? null : target(d.view, tool, rule);
    }

    /** The version whose workers may claim a step of a tool with that rule. */
    static String target(RunView view, String tool, VersionRule rule) {
        return Objects.requireNonNullElseGet(view.versions.get(tool), () -> rule.target(view.run.id()));
    }

    /**
     * Whether a holder may claim a step of the tool.
     *
     * @param version of the worker; null for an executor of a node, which may
     */
    static boolean serves(Decision d, String tool, @Nullable String version) {
        String target = version == null ? null : target(d, tool);
        return target == null || target.equals(version);
    }

    /**
     * A step of the tool was claimed: a rule that pins runs keeps this one with the version.
     *
     * @param version of the worker; null for an executor of a node
     */
    static void claimed(Decision d, String tool, @Nullable String version) {
        VersionRule rule = d.capacity.version(d.run.workspaceId(), tool);
        if (version == null || rule == null || !pins(d, rule) || d.view.versions.putIfAbsent(tool, version) != null) {
            return;
        }
        d.changes.touch(d.run);
        d.changes.pin(new Pin(d.run, tool, version));
        for (TaskRow task : List.copyOf(d.view.tasks.values())) {
            for (StepRow step : task.steps) {
                if (step.queued && !step.isHeld() && step.spec().tool().equals(tool)) {
                    SlotScheduling.enqueue(d, step, null, null);
                }
            }
        }
    }

    /** Whether the run stays with a version: by its mission, else by the rule of the tool. */
    private static boolean pins(Decision d, VersionRule rule) {
        VersionBehavior own = d.run.policy().versions();
        return own == null ? rule.pinned() : own == VersionBehavior.PINNED;
    }

    /** The lot of an unclaimed step of the tool; null without a rule. */
    static @Nullable Lot lot(Decision d, String tool) {
        VersionRule rule = d.capacity.version(d.run.workspaceId(), tool);
        if (rule == null) {
            return null;
        }
        String pinned = d.view.versions.get(tool);
        return pinned == null ? Lot.of(VersionRule.bucket(d.run.id()), rule.target(d.run.id())) : Lot.pinned(pinned);
    }
}
