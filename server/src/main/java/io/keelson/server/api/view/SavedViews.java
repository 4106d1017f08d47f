package io.keelson.server.api.view;

import io.keelson.api.tenant.SavedView;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Sql;
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
    private static final String COLUMNS = "name, page, query, owner = '' as shared, saved_by, saved_at";

    private static final Sql LIST = Sql.of("select " + COLUMNS + """

              from saved_views where workspace_id = :workspace and owner in (:principal, '')
               and (:page::text is null or page = :page)
             order by owner = '', name""");

    private static final Sql ONE = Sql.of("select " + COLUMNS + """

              from saved_views where workspace_id = :workspace and owner = :owner and name = :name""");

    private static final Sql TURN =
            Sql.of("select pg_advisory_xact_lock(hashtextextended('keelson views ' || :owner, 0))");

    private static final Sql COUNT =
            Sql.of("""
            select count(*) as n from saved_views where workspace_id = :workspace and owner = :owner and name <> :name""");

    private static final Sql SAVE = Sql.of("""
            insert into saved_views (workspace_id, owner, name, page, query, saved_by)
            values (:workspace, :owner, :name, :page, :query, :saved_by)
            on conflict (workspace_id, owner, name) do update
               set page = excluded.page, query = excluded.query, saved_by = excluded.saved_by,
                   saved_at = clock_timestamp()
            returning\s""" + COLUMNS);

    private static final Sql DELETE =
            Sql.of("delete from saved_views where workspace_id = :workspace and owner = :owner and name = :name");

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
        return database.withConnection(c -> LIST.on(c).set("workspace", workspace).set("principal", principal)
                .set("page", page).all(RecordColumns.of(SavedView.class)));
    }

    public Optional<SavedView> find(UUID workspace, String principal, boolean shared, String name) {
        return database.withConnection(c -> ONE.on(c).set("workspace", workspace).set("owner", owner(principal, shared))
                .set("name", name).first(RecordColumns.of(SavedView.class)));
    }

    /** Saves a view and replaces the one of that name; empty where there are {@link #MAX_VIEWS} others. */
    public Optional<SavedView> save(UUID workspace, String principal, boolean shared, String name, String page,
            String query) {
        String owner = owner(principal, shared);
        return database.inTransaction(c -> {
            TURN.on(c).set("owner", workspace + " " + owner).exists();
            if (COUNT.on(c).set("workspace", workspace).set("owner", owner).set("name", name)
                    .one(row -> row.getLong("n")) >= MAX_VIEWS) {
                return Optional.empty();
            }
            return SAVE.on(c).set("workspace", workspace).set("owner", owner).set("name", name).set("page", page)
                    .set("query", query).set("saved_by", principal).first(RecordColumns.of(SavedView.class));
        });
    }

    /** False when there is none. */
    public boolean delete(UUID workspace, String principal, boolean shared, String name) {
        return database.inTransaction(c -> DELETE.on(c).set("workspace", workspace)
                .set("owner", owner(principal, shared)).set("name", name).update() == 1);
    }

    private static String owner(String principal, boolean shared) {
        return shared ? WORKSPACE : principal;
    }
}
