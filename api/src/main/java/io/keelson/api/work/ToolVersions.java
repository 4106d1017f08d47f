package io.keelson.api.work;

import io.keelson.api.Absent;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The versions of workers that serve a tool, and the rule by which they get its steps.
 *
 * @param tool name of the tool
 * @param current version that gets the steps of all runs outside the ramp; null without a rule, when any worker
 *     gets them
 * @param previous version that a rollback makes current again
 * @param ramping version that gets the steps of {@code percent} of the runs
 * @param percent part of the runs that the ramping version gets; 0 without one
 * @param behavior {@code pinned}: a run stays with the version of its first claim of the tool; {@code latest}: each
 *     claim follows the rule. Null without a rule
 * @param revision number of the rule's last change; 0 without a rule
 * @param updatedBy the principal that changed the rule last
 * @param updatedAt time of the rule's last change
 * @param versions all known versions
 */
public record ToolVersions(String tool, @Nullable String current, @Nullable String previous, @Nullable String ramping,
        @Range(min = 0, max = 100) int percent, @Nullable @OneOf({
                "pinned", "latest"}) String behavior,
        @Range(min = 0) int revision, @Nullable String updatedBy, @Nullable Instant updatedAt, List<Version> versions) {

    public ToolVersions {
        versions = Absent.asEmpty(versions);
    }

    /**
     * A version of workers.
     *
     * @param version as workers announce it; {@code unversioned} for workers without a version
     * @param state {@code current}; {@code ramping}; {@code draining}: no longer promoted, with workers or runs that
     *     stay with it; {@code drained}: no longer promoted, with neither; {@code inactive}: announced by workers, and
     *     never promoted; {@code unruled}: the tool has no rule, and workers of any version get its steps
     * @param workers workers of the version that have sent a request within a minute
     * @param runs open runs that stay with the version, 100,000 at most
     * @param waiting ready steps that wait for a worker of the version, 100,000 at most
     */
    public record Version(String version,
            @OneOf({"current", "ramping", "draining", "drained", "inactive", "unruled"}) String state,
            @Range(min = 0) int workers, @Range(min = 0) int runs, @Range(min = 0) int waiting) {}

    /**
     * Makes a version current, or ramps it.
     *
     * @param version as workers announce it; {@code unversioned} for workers without a version
     * @param percent part of the runs that get the version; the version is current if absent
     * @param behavior {@code pinned} or {@code latest}; unchanged if absent, {@code pinned} in a new rule
     */
    @Request
    public record Promotion(@Ref("Name") String version, @Nullable @Range(min = 1, max = 100) Integer percent,
            @Nullable @OneOf({"pinned", "latest"}) String behavior) {}
}
