package io.keelson.server.annex.model.coordination;

import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.Models;
import io.keelson.core.plan.RosterAgent;
import io.keelson.core.plan.ToolPolicy;
import io.keelson.server.annex.model.registry.ConfiguredModel;
import io.keelson.server.annex.model.registry.WorkspaceModels;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.mission.recipe.RecipeRow;
import io.keelson.server.mission.recipe.RecipeStore;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Facts for a workspace's planners: agents, models, tools and recipes, each in the order of their names. */
public final class PlanningFacts {
    /** More would make each request of a planner dear. */
    private static final int MAX_RECIPES = 100;

    private final Function<UUID, List<RosterAgent>> agents;
    private final WorkspaceModels models;
    private final Function<UUID, Map<String, JsonNode>> announced;
    private final Database database;
    private final RecipeStore recipes;
    private final Function<UUID, ToolPolicy.Rule> rules;

    /**
     * @param announced what the workers of a workspace say of their tools, by name
     * @param rules of workspaces about tools
     */
    public PlanningFacts(Function<UUID, List<RosterAgent>> agents, WorkspaceModels models,
            Function<UUID, Map<String, JsonNode>> announced, Database database, RecipeStore recipes,
            Function<UUID, ToolPolicy.Rule> rules) {
        this.rules = rules;
        this.agents = agents;
        this.models = models;
        this.announced = announced;
        this.database = database;
        this.recipes = recipes;
    }

    public ObjectNode of(ToolCatalog catalogue, UUID workspace) {
        ObjectNode facts = Json.object();
        ArrayNode hired = facts.putArray("agents");
        agents.apply(workspace).stream().sorted(Comparator.comparing(RosterAgent::slug))
                .forEach(agent -> hired.add(agent(agent)));
        ArrayNode named = facts.putArray("models");
        models.configured().all().stream().filter(model -> models.allows(workspace, model.name()))
                .forEach(model -> named.addObject().put("name", model.name()).put("family", model.family()));
        ArrayNode callable = facts.putArray("tools");
        tools(catalogue, workspace).values().forEach(callable::add);
        ArrayNode known = facts.putArray("recipes");
        database.withConnection(c -> recipes.list(c, workspace, null, null, MAX_RECIPES)).items().stream()
                .map(RecipeStore.Listed::recipe).sorted(Comparator.comparing(RecipeRow::name))
                .forEach(recipe -> known.add(recipe(recipe)));
        return facts;
    }

    private ObjectNode agent(RosterAgent agent) {
        ObjectNode shown = Json.object().put("slug", agent.slug()).put("name", agent.name())
                .put("model", agent.model());
        Optional<ConfiguredModel> model = agent.model() == null ? Optional.empty()
                : models.configured().find(agent.model());
        model.ifPresent(each -> shown.put("family", each.family()));
        agent.capabilities().stream().sorted().forEach(shown.putArray("capabilities")::add);
        agent.tools().stream().sorted().forEach(shown.putArray("tools")::add);
        return shown;
    }

    /** The tools of this server and of the workspace's workers, without those that a plan of the workspace may not name. */
    private Map<String, ObjectNode> tools(ToolCatalog catalogue, UUID workspace) {
        Map<String, ObjectNode> shown = new TreeMap<>();
        ToolCatalog own = catalogue.in(workspace);
        for (Tool tool : own.all()) {
            ToolSpec spec = tool.spec();
            if (own.unusable(spec.name()) == null && !AgentTerms.NEVER.contains(spec.name())
                    && !spec.name().startsWith("verify.")
                    && !spec.name().equals(Models.JUDGE_TOOL)) {
                ObjectNode each = Json.object().put("name", spec.name()).put("description", spec.description());
                each.set("input_schema", spec.inputSchema());
                shown.put(spec.name(), each);
            }
        }
        announced.apply(workspace).forEach((name, spec) -> {
            shown.putIfAbsent(name, ofWorkers(name, spec));
        });
        ToolPolicy policy = new ToolPolicy(List.of(rules.apply(workspace)));
        shown.keySet().removeIf(name -> policy.refusedBy(name) != null);
        return shown;
    }

    private static ObjectNode ofWorkers(String name, JsonNode spec) {
        ObjectNode chosen = Json.object().put("name", name);
        List.of("description", "input_schema").forEach(member -> {
            if (spec.has(member)) {
                chosen.set(member, spec.get(member));
            }
        });
        return chosen;
    }

    private static ObjectNode recipe(RecipeRow recipe) {
        ObjectNode shown = Json.object().put("name", recipe.name()).put("description", recipe.description());
        JsonNode inputs = recipe.mission().path("inputs");
        shown.set("inputs", inputs.isObject() ? inputs : Json.object());
        return shown;
    }
}
