package io.keelson.server.engine.store.read;

import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Lists of archived runs. Their rows have the documents of the lists of runs, without members that are null. */
public final class ArchivedRunReader {

    /** Members that the short document leaves out: they may be long. */
    private static final List<String> LEFT_OUT = List.of("description", "config");

    private static final List<String> CUT = List.of("goal", "result_summary", "error_message");

    private static final int MAX_CHARS = 500;

    private static final String RUNS = """
            select r.id, r.created_at, r.archived_at, r.external_id, r.document::text as document
              from archived_runs r
             where r.workspace_id = ?{filter}
               and (?::timestamptz is null or (r.created_at, r.id) < (?::timestamptz, ?::uuid))
             order by r.created_at desc, r.id desc
             limit ?""";

    private static final Sql STATE = Sql.of("""
            select state from archived_runs where (workspace_id = :workspace) is true and id = :run""");

    private record Listed(ObjectNode document, Cursor place) {}

    private ArchivedRunReader() {}

    /** The short document of a run that is to be archived. */
    public static Optional<String> document(Connection c, UUID workspace, UUID run) throws SQLException {
        return new RunReader().run(c, workspace, run, Detail.WITHOUT_VALUES).map(row -> {
            row.remove(LEFT_OUT);
            for (String member : CUT) {
                JsonNode value = row.path(member);
                if (value.isString() && value.stringValue().length() > MAX_CHARS) {
                    row.put(member, value.stringValue().substring(0, MAX_CHARS));
                }
            }
            row.properties().removeIf(each -> each.getValue().isNull());
            return row.toString();
        });
    }

    /** Whether an archived run has that id. */
    public static boolean exists(Connection c, UUID workspace, UUID run) throws SQLException {
        return STATE.on(c).set("workspace", workspace).set("run", run).exists();
    }

    /**
     * Newest first.
     *
     * @param cursor where to continue; null to begin with the newest
     * @throws RunReader.BadCursorException when the cursor is invalid
     */
    public static RunReader.RunPage runs(Connection c, UUID workspace, RunSelection filter, @Nullable String cursor,
            int limit) throws SQLException {
        Cursor from = cursor == null ? null : Cursor.parse(cursor);
        List<String> members = members(c);
        try (PreparedStatement statement = c.prepareStatement(RUNS.replace("{filter}", filter.sqlOfArchived()))) {
            statement.setObject(1, workspace);
            int p = filter.bind(statement, 2);
            statement.setObject(p++, from == null ? null : from.createdAt().atOffset(ZoneOffset.UTC));
            statement.setObject(p++, from == null ? null : from.createdAt().atOffset(ZoneOffset.UTC));
            statement.setObject(p++, from == null ? null : from.id());
            statement.setInt(p, limit + 1);
            Page<Listed> page = Rows.page(statement, limit, row -> new Listed(item(row, members),
                    new Cursor(Rows.time(row, "created_at"), ViewLoader.uuid(row, "id"))));
            return new RunReader.RunPage(page.items().stream().map(Listed::document).toList(),
                    page.more() ? page.last().place().text() : null);
        }
    }

    private static ObjectNode item(ResultSet row, List<String> members) throws SQLException {
        JsonNode known = Json.read(row.getString("document"));
        ObjectNode document = Json.object();
        for (String member : members) {
            JsonNode value = known.get(member);
            if (value == null) {
                document.putNull(member);
            } else {
                document.set(member, value);
            }
        }
        document.put("external_id", row.getString("external_id"));
        return document.put("archived_at", Json.time(Rows.time(row, "archived_at")));
    }

    /** The members of runs in lists, in their order. */
    private static List<String> members(Connection c) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(ReadSql.RUN_WITHOUT_VALUES)) {
            var columns = statement.getMetaData();
            List<String> names = new ArrayList<>();
            for (int i = 1; i <= columns.getColumnCount(); i++) {
                names.add(columns.getColumnLabel(i));
            }
            return names;
        }
    }
}
