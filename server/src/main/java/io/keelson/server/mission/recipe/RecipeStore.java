package io.keelson.server.mission.recipe;

import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.json.Json;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code workflow_recipes} and {@code recipe_versions}. A method uses the connection it is given and does not commit. */
public final class RecipeStore {

    private static final String COLUMNS = """
            recipe_id, workspace_id, name, description, coalesce(version, 1) as version,
            template_definition -> 'mission' as mission, steps,
            execution_config, template_definition ->> 'originated_from' as originated_from, template_id, tags, created_by,
            coalesce(created_at, to_timestamp(0)) as created_at, updated_by,
            coalesce(updated_at, created_at, to_timestamp(0)) as updated_at""";

    /** The inputs in the order in which they were declared: {@code jsonb} has an order of its own. */
    private static final String INPUTS = """
            (select v.mission -> 'inputs' from recipe_versions v
              where v.recipe_id = workflow_recipes.recipe_id and v.version = workflow_recipes.version)""";

    private static final String WHOLE = "select " + COLUMNS + ", " + INPUTS + " as inputs";

    private static final String INSERT = """
            with clock as (select clock_timestamp() as now),
            made as (
                insert into workflow_recipes (recipe_id, workspace_id, name, description, execution_config, steps,
                    template_id, template_definition, tags, created_by, owner_type, version, created_at, updated_by,
                    updated_at)
                select ?, ?, ?, ?, ?::jsonb, ?::jsonb,
                    case when ?::text is null then null
                        else 'mission-' || left(?, 8) || '-' || to_char(now at time zone 'UTC', 'YYYYMMDDHH24MISS') end,
                    ?::jsonb, ?::jsonb, ?, 'workspace', 1, now, ?, now from clock
                on conflict (workspace_id, name) do nothing
                returning recipe_id, workspace_id, created_by, created_at)
            insert into recipe_versions (recipe_id, version, workspace_id, mission, created_by, created_at)
            select recipe_id, 1, workspace_id, ?::json, created_by, created_at from made""";

    private static final String REPLACE = """
            with changed as (
                update workflow_recipes
                   set name = ?, description = ?, steps = ?::jsonb,
                       execution_config = ?::jsonb || jsonb_strip_nulls(
                           jsonb_build_object('originated_from', execution_config -> 'originated_from')),
                       template_definition = coalesce(template_definition, '{}') || jsonb_build_object('mission', ?::jsonb),
                       version = coalesce(version, 1) + 1, updated_by = ?, updated_at = clock_timestamp()
                 where workspace_id = ? and recipe_id = ?
                   and (template_definition -> 'mission' is distinct from ?::jsonb or exists (
                       select from recipe_versions v
                        where v.recipe_id = workflow_recipes.recipe_id and v.version = workflow_recipes.version
                          and (v.mission -> 'inputs')::text <> (?::json -> 'inputs')::text))
                returning recipe_id, version, workspace_id, updated_by, updated_at)
            insert into recipe_versions (recipe_id, version, workspace_id, mission, created_by, created_at)
            select recipe_id, version, workspace_id, ?::json, updated_by, updated_at from changed""";

    private static final String FIND = WHOLE + " from workflow_recipes where workspace_id = ? and recipe_id = ?";

    private static final String BY_NAME = WHOLE + " from workflow_recipes where workspace_id = ? and name = ?";

    private static final String OF_KIND = WHOLE + """

             from workflow_recipes
             where workspace_id = ? and case when template_definition -> 'mission' ->> 'kind' = ? then true else false end
             order by name limit 1""";

    /** Lists omit longer inputs. */
    private static final int MAX_LISTED_INPUTS = 16_384;

    /** Lists recipes with the inputs of their missions only; null where they are too long. */
    private static final String LIST = "select " + COLUMNS.replace("template_definition -> 'mission' as mission, steps", """
            case when octet_length(declared.inputs::text) <= %d
                then json_build_object('inputs', declared.inputs) end as mission, '[]' as steps"""
            .formatted(MAX_LISTED_INPUTS)).replace("execution_config", "'{}' as execution_config") + """
            , null as inputs
              from workflow_recipes
             cross join lateral (
                select coalesce({inputs}, (template_definition #> '{mission,inputs}')::json, '{}') as inputs offset 0) declared
             where workspace_id = ? and (?::text is null or name = ?) and (?::text is null or name > ?)
             order by name limit ?""".replace("{inputs}", INPUTS);

    private static final String EXPOSED = LIST.replace(" order by name",
            " and template_definition #> '{mission,mcp}' = 'true' order by name");

    private static final String VERSION = """
            select version, mission, created_by, created_at from recipe_versions
             where workspace_id = ? and recipe_id = ? and version = ?""";

    private static final String VERSIONS = """
            select version, created_by, created_at from recipe_versions
             where workspace_id = ? and recipe_id = ? and version < ?
             order by version desc limit ?""";

    private static final String DELETE = "delete from workflow_recipes where workspace_id = ? and recipe_id = ?";

    /** One version, as it was. */
    public record Version(int version, ObjectNode mission, String createdBy, Instant createdAt) {}

    /** A version of a list, without its mission. */
    public record ListedVersion(int version, String createdBy, Instant createdAt) {}

    /**
     * A recipe of a list.
     *
     * @param recipe its mission has the inputs only; steps and configuration are empty
     * @param inputsOmitted whether its inputs are too large for a list; the mission then has none
     */
    public record Listed(RecipeRow recipe, boolean inputsOmitted) {}

    /** Keeps a recipe; false when its name is taken, and then nothing has changed. */
    public boolean insert(Connection c, NewRecipe recipe) throws SQLException {
        UUID from = recipe.lineage() == null ? null : recipe.lineage().run();
        ObjectNode definition = Json.object();
        definition.set("mission", recipe.mission());
        ArrayNode tags = Json.array();
        if (from != null) {
            definition.put("originated_from", from.toString());
            tags.add("from_mission").add("auto_generated");
        }
        try (PreparedStatement s = c.prepareStatement(INSERT)) {
            s.setObject(1, recipe.id());
            s.setObject(2, recipe.workspaceId());
            s.setString(3, recipe.name());
            s.setString(4, recipe.description());
            s.setString(5, LegacyRecipeView.config(recipe.mission(), recipe.lineage()).toString());
            s.setString(6, LegacyRecipeView.steps(recipe.mission()).toString());
            s.setString(7, from == null ? null : from.toString());
            s.setString(8, from == null ? null : from.toString());
            s.setString(9, definition.toString());
            s.setString(10, tags.toString());
            s.setString(11, recipe.createdBy());
            s.setString(12, recipe.createdBy());
            s.setString(13, recipe.mission().toString());
            return s.executeUpdate() > 0;
        }
    }

    /**
     * Replaces a recipe's mission by a new version; an equal mission with its inputs in the same order creates no version. Its
     * lineage stays.
     *
     * @throws SQLException with the state of a unique violation when another recipe has its name
     */
    public void replace(Connection c, NewRecipe recipe) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(REPLACE)) {
            s.setString(1, recipe.name());
            s.setString(2, recipe.description());
            s.setString(3, LegacyRecipeView.steps(recipe.mission()).toString());
            s.setString(4, LegacyRecipeView.config(recipe.mission(), null).toString());
            s.setString(5, recipe.mission().toString());
            s.setString(6, recipe.createdBy());
            s.setObject(7, recipe.workspaceId());
            s.setObject(8, recipe.id());
            for (int p = 9; p <= 11; p++) {
                s.setString(p, recipe.mission().toString());
            }
            s.executeUpdate();
        }
    }

    public Optional<RecipeRow> find(Connection c, UUID workspace, UUID id) throws SQLException {
        return Rows.ofWorkspace(c, FIND, workspace, id, RecipeStore::recipe);
    }

    /** Locked until the transaction ends. */
    public Optional<RecipeRow> locked(Connection c, UUID workspace, UUID id) throws SQLException {
        return Rows.ofWorkspace(c, FIND + " for update", workspace, id, RecipeStore::recipe);
    }

    public Optional<RecipeRow> byName(Connection c, UUID workspace, String name) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(BY_NAME)) {
            s.setObject(1, workspace);
            s.setString(2, name);
            return Rows.all(s, RecipeStore::recipe).stream().findFirst();
        }
    }

    /** The template for goals of that kind: the first by name of those that say so. */
    public Optional<RecipeRow> ofKind(Connection c, UUID workspace, String kind) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(OF_KIND)) {
            s.setObject(1, workspace);
            s.setString(2, kind);
            return Rows.all(s, RecipeStore::recipe).stream().findFirst();
        }
    }

    /**
     * By name.
     *
     * @param name only that one; null for all
     * @param after the name after which the page starts; null for the first
     */
    public Page<Listed> list(Connection c, UUID workspace, @Nullable String name, @Nullable String after, int limit)
            throws SQLException {
        return Rows.byName(c, LIST, workspace, name, after, limit,
                row -> new Listed(recipe(row), row.getString("mission") == null));
    }

    /**
     * As {@link #list}, of the recipes that are tools of MCP clients.
     *
     * @param name of the only one; null for all
     */
    public Page<Listed> exposed(Connection c, UUID workspace, @Nullable String name, @Nullable String after, int limit)
            throws SQLException {
        return Rows.byName(c, EXPOSED, workspace, name, after, limit,
                row -> new Listed(recipe(row), row.getString("mission") == null));
    }

    /** The version of that number; empty when there is none. */
    public Optional<Version> version(Connection c, UUID workspace, UUID id, int version) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(VERSION)) {
            s.setObject(1, workspace);
            s.setObject(2, id);
            s.setInt(3, version);
            return Rows.all(s, row -> new Version(row.getInt("version"), object(row, "mission"),
                    row.getString("created_by"), Rows.time(row, "created_at"))).stream().findFirst();
        }
    }

    /**
     * Newest first.
     *
     * @param before only older ones
     */
    public Page<ListedVersion> versions(Connection c, UUID workspace, UUID id, int before, int limit)
            throws SQLException {
        try (PreparedStatement s = c.prepareStatement(VERSIONS)) {
            s.setObject(1, workspace);
            s.setObject(2, id);
            s.setInt(3, before);
            s.setInt(4, limit + 1);
            return Rows.page(s, limit, row -> new ListedVersion(row.getInt("version"), row.getString("created_by"),
                    Rows.time(row, "created_at")));
        }
    }

    /**
     * Forgets a recipe and its versions; runs that were made of it stay.
     *
     * @return false when there is none
     * @throws SQLException with the state of a foreign key's violation when a schedule names it
     */
    public boolean delete(Connection c, UUID workspace, UUID id) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(DELETE)) {
            s.setObject(1, workspace);
            s.setObject(2, id);
            return s.executeUpdate() > 0;
        }
    }

    private static ObjectNode mission(ResultSet row) throws SQLException {
        ObjectNode mission = object(row, "mission");
        String inputs = row.getString("inputs");
        if (inputs != null && mission.has("inputs")) {
            mission.set("inputs", Json.read(inputs));
        }
        return mission;
    }

    private static RecipeRow recipe(ResultSet row) throws SQLException {
        String from = row.getString("originated_from");
        return new RecipeRow(row.getObject("recipe_id", UUID.class), row.getObject("workspace_id", UUID.class),
                row.getString("name"), row.getString("description"), row.getInt("version"), mission(row),
                array(row, "steps"), object(row, "execution_config"), from == null ? null : UUID.fromString(from),
                row.getString("template_id"), array(row, "tags"), row.getString("created_by"),
                Rows.time(row, "created_at"), row.getString("updated_by"), Rows.time(row, "updated_at"));
    }

    /** A row of the platform may have none. */
    private static ArrayNode array(ResultSet row, String column) throws SQLException {
        String json = row.getString(column);
        return json == null ? Json.array() : (ArrayNode) Json.read(json);
    }

    private static ObjectNode object(ResultSet row, String column) throws SQLException {
        String json = row.getString(column);
        return json == null ? Json.object() : (ObjectNode) Json.read(json);
    }
}
