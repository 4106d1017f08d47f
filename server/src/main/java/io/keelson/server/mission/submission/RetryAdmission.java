package io.keelson.server.mission.submission;

import io.keelson.server.mission.bulk.BulkRetryAdmission;
import io.keelson.server.mission.submission.SubmissionResult.LimitReached;
import io.keelson.server.tenant.workspace.WorkspaceRow;
import io.keelson.server.tenant.workspace.WorkspaceStore;
import java.util.UUID;

/** Holds bulk retries to the limits that single retries have. */
public final class RetryAdmission implements BulkRetryAdmission {

    private final WorkspaceStore workspaces;
    private final AdmissionControl admission;

    public RetryAdmission(WorkspaceStore workspaces, AdmissionControl admission) {
        this.workspaces = workspaces;
        this.admission = admission;
    }

    @Override
    public Answer admit(UUID workspace) {
        WorkspaceRow row = workspaces.find(workspace).orElse(null);
        if (row == null || row.closed()) {
            return new Answer.Closed();
        }
        return switch (admission.admit(workspace, row.limits())) {
            case LimitReached reached -> new Answer.LimitReached(reached.code());
            case AdmissionControl.Permit permit -> new Answer.Admitted(permit::close);
        };
    }
}
