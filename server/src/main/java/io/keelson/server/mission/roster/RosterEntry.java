package io.keelson.server.mission.roster;

import io.keelson.core.plan.RunsOn;
import io.keelson.core.policy.CallApprovals;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An agent of a workspace.
 *
 * @param slug unique in the workspace, and never changed
 * @param description for users; null if absent
 * @param model that its turns are to use; null leaves that to the worker
 * @param instructions for all its turns; null if absent
 * @param tools all that its turns may call
 * @param capabilities the types of tasks that it is good at
 * @param maxTurns maximum turns of a task, the first included; null leaves it to the run
 * @param runsOn where its turns are taken; null: in the server where its model is configured there, else in workers
 * @param approvals its rules about persons' approval of its calls
 * @param createdBy null for agents created before this column
 */
public record RosterEntry(int id, String slug, String name, @Nullable String description, @Nullable String model,
        @Nullable String instructions, List<String> tools, List<String> capabilities, @Nullable Integer maxTurns,
        @Nullable RunsOn runsOn, CallApprovals approvals, @Nullable String createdBy, Instant createdAt,
        Instant updatedAt) {

    public RosterEntry {
        tools = List.copyOf(tools);
        capabilities = List.copyOf(capabilities);
    }

    /** An agent's properties besides its slug. */
    public record Profile(String name, @Nullable String description, @Nullable String model,
            @Nullable String instructions, List<String> tools, List<String> capabilities, @Nullable Integer maxTurns,
            @Nullable RunsOn runsOn, CallApprovals approvals) {
        public Profile {
            tools = List.copyOf(tools);
            capabilities = List.copyOf(capabilities);
        }
    }
}
