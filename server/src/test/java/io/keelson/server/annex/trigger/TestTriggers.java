package io.keelson.server.annex.trigger;

import io.keelson.server.base.db.Database;
import java.util.UUID;

/** Rows of triggers, without a server. */
final class TestTriggers {

    private TestTriggers() {}

    /** A trigger of a new workspace. */
    static UUID insert(Database database, UUID workspace) {
        UUID trigger = UUID.randomUUID();
        execute(database, "insert into workspaces (id, name) values ('" + workspace + "', '" + workspace + "')");
        execute(database, "insert into triggers (id, workspace_id, name, definition, created_by) values ('" + trigger
                + "', '" + workspace + "', 'events', '{}', 'test')");
        return trigger;
    }

    static void execute(Database database, String sql) {
        database.runInTransaction(c -> {
            try (var statement = c.createStatement()) {
                statement.execute(sql);
            }
        });
    }

    static long count(Database database, String sql) {
        return database.withConnection(c -> {
            try (var statement = c.createStatement(); var row = statement.executeQuery(sql)) {
                row.next();
                return row.getLong(1);
            }
        });
    }
}
