package io.keelson.server.mission.recipe;

import io.keelson.api.definition.Recipe;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.json.Json;
import java.sql.Connection;
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

    private static final Sql INSERT = Sql.of("""
            with clock as (select clock_timestamp() as now),
            made as (
                insert into workflow_recipes (recipe_id, workspace_id, name, description, execution_config, steps,
                    template_id, template_definition, tags, created_by, owner_type, version, created_at, updated_by,
                    updated_at)
                select :id, :workspace, :name, :description, :execution_config::jsonb, :steps::jsonb,
                    case when :template_id::text is null then null
                        else 'mission-' || left(:template_id, 8) || '-'
                            || to_char(now at time zone 'UTC', 'YYYYMMDDHH24MISS') end,
                    :template_definition::jsonb, :tags::jsonb, :created_by, 'workspace', 1, now, :created_by, now
                  from clock
                on conflict (workspace_id, name) do nothing
                returning recipe_id, workspace_id, created_by, created_at)
            insert into recipe_versions (recipe_id, version, workspace_id, mission, created_by, created_at)
            select recipe_id, 1, workspace_id, :mission::json, created_by, created_at from made""");

    private static final Sql REPLACE = Sql.of("""
            with changed as (
                update workflow_recipes
                   set name = :name, description = :description, steps = :steps::jsonb,
                       execution_config = :execution_config::jsonb || jsonb_strip_nulls(
                           jsonb_build_object('originated_from', execution_config -> 'originated_from')),
                       template_definition = coalesce(template_definition, '{}')
                           || jsonb_build_object('mission', :mission::jsonb),
                       version = coalesce(version, 1) + 1, updated_by = :by, updated_at = clock_timestamp()
                 where workspace_id = :workspace and recipe_id = :id
                   and (template_definition -> 'mission' is distinct from :mission::jsonb or exists (
                       select from recipe_versions v
                        where v.recipe_id = workflow_recipes.recipe_id and v.version = workflow_recipes.version
                          and (v.mission -> 'inputs')::text <> (:mission::json -> 'inputs')::text))
                returning recipe_id, version, workspace_id, updated_by, updated_at)
            insert into recipe_versions (recipe_id, version, workspace_id, mission, created_by, created_at)
            select recipe_id, version, workspace_id, :mission::json, updated_by, updated_at from changed""");

    private static final Sql FIND =
            Sql.of(WHOLE + " from workflow_recipes where workspace_id = :workspace and recipe_id = :id");

    private static final Sql LOCKED = FIND.and(" for update");

    private static final Sql BY_NAME =
            Sql.of(WHOLE + " from workflow_recipes where workspace_id = :workspace and name = :name");

    private static final Sql OF_KIND = Sql.of(WHOLE + """

             from workflow_recipes
             where workspace_id = :workspace
               and case when template_definition -> 'mission' ->> 'kind' = :kind then true else false end
             order by name limit 1""");

    /** Lists omit longer inputs. */
    private static final int MAX_LISTED_INPUTS = 16_384;

    /** Lists recipes with the inputs of their missions only; null where they are too long. */
    private static final String LISTED =
            "select " + COLUMNS.replace("template_definition -> 'mission' as mission, steps", """
            case when octet_length(declared.inputs::text) <= %d
                then json_build_object('inputs', declared.inputs) end as mission, '[]' as steps"""
                    .formatted(MAX_LISTED_INPUTS)).replace("execution_config", "'{}' as execution_config") + """
            , null as inputs
              from workflow_recipes
             cross join lateral (
                select coalesce({inputs}, (template_definition #> '{mission,inputs}')::json, '{}') as inputs offset 0) declared
             where workspace_id = :workspace and (:name::text is null or name = :name)
               and (:after::text is null or name > :after)
             order by name limit :limit""".replace("{inputs}", INPUTS);

    private static final Sql LIST = Sql.of(LISTED);

    private static final Sql EXPOSED = Sql.of(LISTED.replace(" order by name",
            " and template_definition #> '{mission,mcp}' = 'true' order by name"));

    private static final Sql VERSION = Sql.of("""
            select version, mission, created_by, created_at from recipe_versions
             where workspace_id = :workspace and recipe_id = :id and version = :version""");

    private static final Sql VERSIONS = Sql.of("""
            select version, created_by, created_at from recipe_versions
             where workspace_id = :workspace and recipe_id = :id and version < :version
             order by version desc limit :limit""");

    private static final Sql DELETE =
            Sql.of("delete from workflow_recipes where workspace_id = :workspace and recipe_id = :id");

    /** One version, as it was. */
    public record Version(int version, ObjectNode mission, String createdBy, Instant createdAt) {}

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
        return INSERT.on(c).set("id", recipe.id()).set("workspace", recipe.workspaceId()).set("name", recipe.name())
                .set("description", recipe.description())
                .set("execution_config", LegacyRecipeView.config(recipe.mission(), recipe.lineage()))
                .set("steps", LegacyRecipeView.steps(recipe.mission()))
                .set("template_id", from == null ? null : from.toString()).set("template_definition", definition)
                .set("tags", tags).set("created_by", recipe.createdBy()).set("mission", recipe.mission()).update() > 0;
    }

    /**
     * Replaces a recipe's mission by a new version; an equal mission with its inputs in the same order creates no version. Its
     * lineage stays.
     *
     * @throws SQLException with the state of a unique violation when another recipe has its name
     */
    public void replace(Connection c, NewRecipe recipe) throws SQLException {
        REPLACE.on(c).set("name", recipe.name()).set("description", recipe.description())
                .set("steps", LegacyRecipeView.steps(recipe.mission()))
                .set("execution_config", LegacyRecipeView.config(recipe.mission(), null))
                .set("mission", recipe.mission()).set("by", recipe.createdBy()).set("workspace", recipe.workspaceId())
                .set("id", recipe.id()).update();
    }

    public Optional<RecipeRow> find(Connection c, UUID workspace, UUID id) throws SQLException {
        return FIND.on(c).set("workspace", workspace).set("id", id).first(RecipeStore::recipe);
    }

    /** Locked until the transaction ends. */
    public Optional<RecipeRow> locked(Connection c, UUID workspace, UUID id) throws SQLException {
        return LOCKED.on(c).set("workspace", workspace).set("id", id).first(RecipeStore::recipe);
    }

    public Optional<RecipeRow> byName(Connection c, UUID workspace, String name) throws SQLException {
        return BY_NAME.on(c).set("workspace", workspace).set("name", name).first(RecipeStore::recipe);
    }

    /** The template for goals of that kind: the first one by name. */
    public Optional<RecipeRow> ofKind(Connection c, UUID workspace, String kind) throws SQLException {
        return OF_KIND.on(c).set("workspace", workspace).set("kind", kind).first(RecipeStore::recipe);
    }

    /**
     * By name.
     *
     * @param name only that one; null for all
     * @param after the name after which the page starts; null for the first
     */
    public Page<Listed> list(Connection c, UUID workspace, @Nullable String name, @Nullable String after, int limit)
            throws SQLException {
        return LIST.on(c).set("workspace", workspace).set("name", name).set("after", after).page(limit,
                RecipeStore::listed);
    }

    /**
     * Lists the recipes that are tools of MCP clients.
     *
     * @param name selects one recipe; null for all
     */
    public Page<Listed> exposed(Connection c, UUID workspace, @Nullable String name, @Nullable String after, int limit)
            throws SQLException {
        return EXPOSED.on(c).set("workspace", workspace).set("name", name).set("after", after).page(limit,
                RecipeStore::listed);
    }

    /** The version of that number; empty when there is none. */
    public Optional<Version> version(Connection c, UUID workspace, UUID id, int version) throws SQLException {
        return VERSION.on(c).set("workspace", workspace).set("id", id).set("version", version)
                .first(row -> new Version(row.getInt("version"), object(row, "mission"), row.getString("created_by"),
                        Rows.time(row, "created_at")));
    }

    /**
     * Newest first.
     *
     * @param before only older ones
     */
    public Page<Recipe.Version> versions(Connection c, UUID workspace, UUID id, int before, int limit)
            throws SQLException {
        return VERSIONS.on(c).set("workspace", workspace).set("id", id).set("version", before).page(limit,
                RecordColumns.of(Recipe.Version.class));
    }

    /**
     * Deletes a recipe and its versions; its runs stay.
     *
     * @return false if there is no such recipe
     * @throws SQLException with the state of a foreign key's violation when a schedule names it
     */
    public boolean delete(Connection c, UUID workspace, UUID id) throws SQLException {
        return DELETE.on(c).set("workspace", workspace).set("id", id).update() > 0;
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

    private static Listed listed(ResultSet row) throws SQLException {
        return new Listed(recipe(row), row.getString("mission") == null);
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
