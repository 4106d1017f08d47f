package io.keelson.server.engine.store.read;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;

/** The models that have worked on a task. */
public final class TaskAuthors {

    private static final String MODELS =
            """
            select distinct l.model from billing_ledger l join orchestration_steps s on s.id = l.step_id
             where l.run_id = ? and l.workspace_id = ? and s.task_id = ? and l.purpose is null and l.model is not null""";

    private TaskAuthors() {}

    /** The models that its work was charged for, by the names of their prices. */
    public static Set<String> models(Connection c, UUID workspace, UUID run, UUID task) throws SQLException {
        try (PreparedStatement models = c.prepareStatement(MODELS)) {
            models.setObject(1, run);
            models.setObject(2, workspace);
            models.setObject(3, task);
            Set<String> found = new HashSet<>();
            try (ResultSet row = models.executeQuery()) {
                while (row.next()) {
                    found.add(row.getString(1));
                }
            }
            return found;
        }
    }
}
