package io.keelson.server.api.view;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Rows;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** {@code saved_views}: each principal's own views, and the views that a workspace shares. */
public final class SavedViews {

    /** Maximum shared views of a workspace, and views of each principal. */
    public static final int MAX_VIEWS = 200;

    /** The owner of a shared view. */
    private static final String WORKSPACE = "";
    private static final String COLUMNS = "name, page, query, owner, saved_by, saved_at";

    private static final String LIST = "select " + COLUMNS + """

              from saved_views where workspace_id = ? and owner in (?, '') and (?::text is null or page = ?)
             order by owner = '', name""";

    private static final String ONE = "select " + COLUMNS + """

              from saved_views where workspace_id = ? and owner = ? and name = ?""";

    private static final String TURN = "select pg_advisory_xact_lock(hashtextextended('keelson views ' || ?, 0))";

    private static final String COUNT = """
            select count(*) from saved_views where workspace_id = ? and owner = ? and name <> ?""";

    private static final String SAVE = """
            insert into saved_views (workspace_id, owner, name, page, query, saved_by) values (?, ?, ?, ?, ?, ?)
            on conflict (workspace_id, owner, name) do update
               set page = excluded.page, query = excluded.query, saved_by = excluded.saved_by,
                   saved_at = clock_timestamp()
            returning\s""" + COLUMNS;

    private static final String DELETE = "delete from saved_views where workspace_id = ? and owner = ? and name = ?";

    private final Database database;

    public SavedViews(Database database) {
        this.database = database;
    }

    /**
     * The principal's own views and then the shared ones, in order of their names.
     *
     * @param page only views of that page; null for all
     */
    public List<SavedView> list(UUID workspace, String principal, @Nullable String page) {
        return database.withConnection(c -> {
            try (PreparedStatement read = c.prepareStatement(LIST)) {
                read.setObject(1, workspace);
                read.setString(2, principal);
                read.setString(3, page);
                read.setString(4, page);
                return Rows.all(read, SavedViews::view);
            }
        });
    }

    public Optional<SavedView> find(UUID workspace, String principal, boolean shared, String name) {
        return database.withConnection(c -> {
            try (PreparedStatement read = c.prepareStatement(ONE)) {
                read.setObject(1, workspace);
                read.setString(2, owner(principal, shared));
                read.setString(3, name);
                return Rows.all(read, SavedViews::view).stream().findFirst();
            }
        });
    }

    /** Saves a view and replaces the one of that name; empty where there are {@link #MAX_VIEWS} others. */
    public Optional<SavedView> save(UUID workspace, String principal, boolean shared, String name, String page,
            String query) {
        String owner = owner(principal, shared);
        return database.inTransaction(c -> {
            try (PreparedStatement turn = c.prepareStatement(TURN)) {
                turn.setString(1, workspace + " " + owner);
                turn.execute();
            }
            try (PreparedStatement count = c.prepareStatement(COUNT)) {
                count.setObject(1, workspace);
                count.setString(2, owner);
                count.setString(3, name);
                try (ResultSet row = count.executeQuery()) {
                    if (row.next() && row.getLong(1) >= MAX_VIEWS) {
                        return Optional.empty();
                    }
                }
            }
            try (PreparedStatement save = c.prepareStatement(SAVE)) {
                save.setObject(1, workspace);
                save.setString(2, owner);
                save.setString(3, name);
                save.setString(4, page);
                save.setString(5, query);
                save.setString(6, principal);
                return Rows.all(save, SavedViews::view).stream().findFirst();
            }
        });
    }

    /** False when there is none. */
    public boolean delete(UUID workspace, String principal, boolean shared, String name) {
        return database.inTransaction(c -> {
            try (PreparedStatement delete = c.prepareStatement(DELETE)) {
                delete.setObject(1, workspace);
                delete.setString(2, owner(principal, shared));
                delete.setString(3, name);
                return delete.executeUpdate() == 1;
            }
        });
    }

    private static String owner(String principal, boolean shared) {
        return shared ? WORKSPACE : principal;
    }

    private static SavedView view(ResultSet row) throws SQLException {
        return new SavedView(row.getString("name"), row.getString("page"), row.getString("query"),
                row.getString("owner").equals(WORKSPACE), row.getString("saved_by"), Rows.time(row, "saved_at"));
    }
}
