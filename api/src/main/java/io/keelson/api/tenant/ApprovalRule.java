package io.keelson.api.tenant;

import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Request;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The rule of a workspace about the approval of questions of its runs.
 *
 * @param approvals people who have to approve each question of new runs, by this rule
 * @param fourEyes whether the submitter of a run cannot approve for it, by this rule
 * @param requiredApprovals people who have to approve each question of new runs, if their missions require no more: the highest
 *     number of this rule and of the server's settings
 * @param requiredFourEyes whether this rule or a setting of the server keeps submitters from approving
 * @param updatedBy name of the principal that set the rule last; null for a workspace without one
 * @param updatedAt when it was set last
 */
public record ApprovalRule(int approvals, boolean fourEyes, int requiredApprovals, boolean requiredFourEyes,
        @Nullable String updatedBy, @Nullable Instant updatedAt) {

    /**
     * Changes the rule of the workspace. Members that are absent stay unchanged.
     *
     * @param approvals people who have to approve each question of new runs; 1 for no such rule
     * @param fourEyes whether the submitter of a run cannot approve for it
     */
    @Request
    public record Change(@Nullable @Range(min = 1, max = 5) Integer approvals, @Nullable Boolean fourEyes) {}
}
