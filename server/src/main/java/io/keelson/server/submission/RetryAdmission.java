package io.keelson.server.submission;

import io.keelson.server.bulk.BulkRetryAdmission;
import io.keelson.server.db.Database;
import io.keelson.server.http.support.ApiProblem;
import io.keelson.server.http.support.Reads;
import io.keelson.server.run.read.RunReader;
import io.keelson.server.workspace.WorkspaceRow;
import io.keelson.server.workspace.Workspaces;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Holds runs that are retried by the many to the same limits as those that clients retry. */
public final class RetryAdmission implements BulkRetryAdmission {

    private final Workspaces workspaces;
    private final AdmissionControl admission;

    public RetryAdmission(Database database, Workspaces workspaces, RunReader reader) {
        this.workspaces = workspaces;
        this.admission = new AdmissionControl(new Reads(database, reader));
    }

    @Override
    public @Nullable String closed(UUID workspace) {
        WorkspaceRow row = workspaces.find(workspace).orElse(null);
        if (row == null || row.closed()) {
            return FOR_GOOD;
        }
        if (row.limits().byName().isEmpty()) {
            return null;
        }
        try (AdmissionControl.Permit _ = admission.admit(workspace, row.limits())) {
            return null;
        } catch (ApiProblem problem) {
            return problem.document().get("code").stringValue();
        }
    }
}
