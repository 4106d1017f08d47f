package io.keelson.server.http;

import io.keelson.server.auth.WorkspaceRow;
import io.keelson.server.auth.Workspaces;
import io.keelson.server.bulk.BulkDoor;
import io.keelson.server.db.Database;
import io.keelson.server.run.RunReader;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Holds runs that are retried by the many to the same limits as those that clients retry. */
public final class RetryDoor implements BulkDoor {

    private final Workspaces workspaces;
    private final Admission admission;

    public RetryDoor(Database database, Workspaces workspaces, RunReader reader) {
        this.workspaces = workspaces;
        this.admission = new Admission(new Reads(database, reader));
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
        try (Admission.Ticket _ = admission.admit(workspace, row.limits())) {
            return null;
        } catch (Refusal refusal) {
            return refusal.document().get("code").stringValue();
        }
    }
}
