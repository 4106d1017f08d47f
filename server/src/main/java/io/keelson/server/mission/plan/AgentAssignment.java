package io.keelson.server.mission.plan;

import io.keelson.core.plan.AgentSelection;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.RosterAgent;
import io.keelson.core.plan.RunsOn;
import io.keelson.core.plan.TaskType;
import io.keelson.core.plan.ToolPolicy;
import io.keelson.core.plan.TurnLimits;
import io.keelson.core.policy.CallApprovals;
import io.keelson.server.engine.tool.ApprovalRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Assigns agents to tasks: read from a stored plan, or chosen when a plan is read for the first
 * time. Chosen once, because the roster may change. Serves one reading of one plan.
 */
final class AgentAssignment {
    private static final String STORED = "assigned_agent";
    /** Turns of a contractor whose plan and run set no bound. */
    private static final int CONTRACTOR_TURNS = 10;

    private final Supplier<List<RosterAgent>> source;
    private final boolean trusting;
    private final @Nullable String wanted;
    private final ModelRules models;
    private final int turns;
    private final Predicate<String> openWorld;
    private final ToolRules rules;
    private @Nullable List<RosterAgent> roster;

    /**
     * An agent that has got a task.
     *
     * @param instructions null if absent
     */
    record Hired(AgentTerms terms, @Nullable String instructions) {}

    private AgentAssignment(Supplier<List<RosterAgent>> source, boolean trusting, @Nullable String wanted,
            ModelRules models, int turns, Predicate<String> openWorld, ToolRules rules) {
        this.rules = rules;
        this.models = models;
        this.turns = turns;
        this.openWorld = openWorld;
        this.source = source;
        this.trusting = trusting;
        this.wanted = wanted;
    }

    /** As a stored plan says it. */
    static AgentAssignment stored() {
        return new AgentAssignment(List::of, true, null, ModelRules.UNKNOWN, 0, tool -> false,
                new ToolRules(new ToolPolicy.Rule(ToolPolicy.Level.WORKSPACE, null, List.of()),
                        MissingNode.getInstance()));
    }

    /**
     * Chooses agents for a submitted plan and ignores earlier choices in it.
     *
     * @param source the roster, read when a task is done in turns or names an agent
     * @param wanted slug of the agent for tasks without an assignment; null if absent
     * @param models which the server calls itself
     * @param turns of a task for agents without a bound of their own, where the server takes them; 0 where it is not known
     * @param openWorld whether results of a tool come from outside
     * @param rules which tools they may use, with the run's config
     */
    static AgentAssignment choosing(Supplier<List<RosterAgent>> source, @Nullable String wanted, ModelRules models,
            int turns, Predicate<String> openWorld, ToolRules rules) {
        return new AgentAssignment(source, false, wanted, models, turns, openWorld, rules);
    }

    /** Chooses where the stored part of a plan does not say who it is. */
    static AgentAssignment keeping(Supplier<List<RosterAgent>> source, ModelRules models,
            Predicate<String> openWorld, ToolRules rules) {
        return new AgentAssignment(source, true, null, models, 0, openWorld, rules);
    }

    /** The model that the server should call for an agent and is not configured; null if absent. */
    @Nullable String missingModel(Hired agent) {
        String model = agent.terms.model();
        return trusting || agent.terms.runsOn() == RunsOn.WORKERS || model != null && models.configured(model) ? null
                : String.valueOf(model);
    }

    /** The agent of the task; null when no agent is assigned and its turns may call no tools. */
    @Nullable Hired hire(JsonNode task, TaskType taskType) {
        List<String> needed = JsonFields.texts(task.path("tools_needed"));
        Hired hired = trusting && task.has(STORED) ? read(task.path(STORED), task) : choose(task, taskType, needed);
        if (hired == null && (task.path("tools_needed").isArray() || task.path("limits").isObject())) {
            return new Hired(rules(task, CallApprovals.NONE, new AgentTerms(null, null, null,
                    JsonFields.text(task, "suggested_model"), needed, 0, List.of()))
                    .limited(limits(task.path("limits"))), null);
        }
        return hired == null ? null : new Hired(hired.terms.limited(limits(task.path("limits"))), hired.instructions);
    }

    /** The terms with the rules of the agent and of the task, and with known facts about their tools. */
    private AgentTerms rules(JsonNode task, CallApprovals ofAgent, AgentTerms all) {
        AgentTerms terms = all.refusing(refused(task, rules.refused(all.tools(), task)));
        List<String> outside = terms.tools().stream().filter(openWorld).toList();
        return terms.ruled(ofAgent.and(ApprovalRules.read(task.path("limits").path("approvals"))))
                .reaching(outside.isEmpty() ? outside
                        : terms.tools().stream()
                                .filter(tool -> outside.contains(tool) || tool.equals(AgentTerms.DELEGATE)).toList());
    }

    private static TurnLimits limits(JsonNode said) {
        if (!said.isObject()) {
            return TurnLimits.NONE;
        }
        Map<String, Integer> byTool = new TreeMap<>();
        said.path("max_calls_by_tool").forEachEntry((tool, most) -> byTool.put(tool, most.asInt(0)));
        return new TurnLimits(said.path("max_calls").asInt(0), byTool, said.path("max_tokens").asLong(0));
    }

    /**
     * The agent of the roster that a task with steps of its own names, or the model that it suggests; null for neither. Its
     * turns, where the task has any, may call nothing.
     */
    @Nullable Hired ofSteps(JsonNode task) {
        if (trusting && task.has(STORED)) {
            return read(task.path(STORED), task);
        }
        JsonNode suggested = task.path("suggested_agent");
        boolean names = suggested.path("agent_name").isString() || suggested.path("agent_id").isInt();
        RosterAgent agent = !names || AgentTerms.CONTRACTOR.equals(JsonFields.text(suggested, "type")) ? null
                : named(suggested);
        String model = model(task, agent == null ? null : agent.model());
        if (agent == null) {
            return model == null ? null
                    : new Hired(new AgentTerms(null, null, null, model, List.of(), 0, List.of()), null);
        }
        return new Hired(new AgentTerms(AgentTerms.ROSTER, agent.id(), agent.slug(), model, List.of(), 0, List.of()),
                null);
    }

    /** True for a contractor that this reading has chosen. */
    boolean hiresContractor(JsonNode task, @Nullable Hired hired) {
        return hired != null && AgentTerms.CONTRACTOR.equals(hired.terms.type()) && !(trusting && task.has(STORED));
    }

    boolean trusting() {
        return trusting;
    }

    /** The best other agent of the roster for the task; null if absent. */
    @Nullable Hired other(JsonNode task, TaskType taskType, @Nullable Hired before) {
        List<String> needed = JsonFields.texts(task.path("tools_needed"));
        String slug = before == null ? null : before.terms.slug();
        AgentSelection.Choice choice = AgentSelection.choose(
                roster().stream().filter(agent -> !agent.slug().equals(slug)).toList(), taskType, needed);
        return choice.chosen() == null ? null : hired(choice.chosen(), task, taskType, needed, choice.candidates());
    }

    /** The agent with another model, which decides where its turns are taken; null for no agent. */
    @Nullable Hired withModel(@Nullable Hired agent, String model) {
        if (agent == null || agent.terms.slug() == null || model.isEmpty()) {
            return null;
        }
        AgentTerms terms = agent.terms;
        RunsOn runsOn = models.configured(model) ? RunsOn.SERVER : terms.runsOn();
        return new Hired(new AgentTerms(terms.type(), terms.id(), terms.slug(), model, terms.tools(),
                bound(terms.maxTurns(), runsOn), terms.candidates(), runsOn).ruled(terms.approvals())
                .reaching(terms.openWorld()).refusing(terms.refused()), agent.instructions);
    }

    /**
     * As it is stored within an object; null if absent.
     *
     * @param task that it does
     */
    static @Nullable Hired stored(JsonNode object, JsonNode task) {
        return read(object.path(STORED), task);
    }

    /** The stored form; null if the task's other members imply it. */
    static @Nullable ObjectNode write(@Nullable Hired hired) {
        return hired == null || hired.terms.type() == null ? null : written(hired);
    }

    static ObjectNode written(Hired hired) {
        AgentTerms terms = hired.terms;
        ObjectNode stored = JsonNodeFactory.instance.objectNode().put("type", terms.type()).put("agent_id", terms.id())
                .put("agent_name", terms.slug()).put("model", terms.model())
                .put("instructions", hired.instructions).put("max_turns", terms.maxTurns())
                .put("runs_on", terms.runsOn().wire());
        terms.tools().forEach(stored.putArray("tools")::add);
        if (!terms.approvals().equals(CallApprovals.NONE)) {
            stored.set("approvals", ApprovalRules.write(terms.approvals()));
        }
        if (!terms.openWorld().isEmpty()) {
            terms.openWorld().forEach(stored.putArray("open_world")::add);
        }
        if (terms.refused().keySet().stream().anyMatch(tool -> !tool.equals(AgentTerms.OTHERS))) {
            ObjectNode refused = stored.putObject("refused_tools");
            new TreeMap<>(terms.refused()).forEach((tool, level) -> refused.put(tool, level.wire()));
            refused.remove(AgentTerms.OTHERS);
        }
        ArrayNode candidates = stored.putArray("candidates");
        terms.candidates().forEach(candidates::add);
        return stored;
    }

    static String key() {
        return STORED;
    }

    private static @Nullable Hired read(JsonNode stored, JsonNode task) {
        if (!stored.isObject()) {
            return null;
        }
        return new Hired(new AgentTerms(JsonFields.text(stored, "type"),
                stored.path("agent_id").isInt() ? stored.path("agent_id").asInt() : null,
                JsonFields.text(stored, "agent_name"), JsonFields.text(stored, "model"),
                JsonFields.texts(stored.path("tools")),
                JsonFields.integer(stored, "max_turns", 0), JsonFields.texts(stored.path("candidates")),
                RunsOn.of(JsonFields.text(stored, "runs_on", RunsOn.WORKERS.wire())))
                .ruled(ApprovalRules.read(stored.path("approvals")))
                .reaching(JsonFields.texts(stored.path("open_world")))
                .refusing(refused(task, levels(stored.path("refused_tools")))),
                JsonFields.text(stored, "instructions"));
    }

    /** The levels that refuse tools; includes all other tools if the task lists its needed tools. */
    private static Map<String, ToolPolicy.Level> refused(JsonNode task, Map<String, ToolPolicy.Level> ofRules) {
        if (task.path("tools_needed").isArray()) {
            ofRules.put(AgentTerms.OTHERS, ToolPolicy.Level.TASK);
        }
        return ofRules;
    }

    private static Map<String, ToolPolicy.Level> levels(JsonNode stored) {
        Map<String, ToolPolicy.Level> refused = new TreeMap<>();
        stored.properties().forEach(each -> refused.put(each.getKey(), JsonFields.word(stored, each.getKey(),
                ToolPolicy.Level.values(), ToolPolicy.Level.AGENT)));
        return refused;
    }

    private @Nullable Hired choose(JsonNode task, TaskType taskType, List<String> needed) {
        JsonNode suggested = task.path("suggested_agent");
        if (AgentTerms.CONTRACTOR.equals(JsonFields.text(suggested, "type"))) {
            return contractor(task, taskType, suggested, needed, List.of());
        }
        RosterAgent named = named(suggested);
        if (named != null && AgentSelection.able(named, needed)) {
            return hired(named, task, taskType, needed, List.of());
        }
        AgentSelection.Choice choice = AgentSelection.choose(roster(), taskType, needed);
        if (choice.chosen() != null) {
            return hired(choice.chosen(), task, taskType, needed, choice.candidates());
        }
        boolean able = roster().stream().anyMatch(agent -> AgentSelection.able(agent, needed));
        String model = modelInTurns(task, taskType, null);
        return named != null || able || model != null && models.configured(model)
                && JsonFields.text(task, "suggested_model") == null
                        ? contractor(task, taskType, JsonNodeFactory.instance.objectNode(), needed, choice.candidates())
                        : null;
    }

    /** The agent that the task names, else the agent that the run is for. */
    private @Nullable RosterAgent named(JsonNode suggested) {
        String name = JsonFields.text(suggested, "agent_name");
        boolean byId = suggested.path("agent_id").isInt();
        String slug = name == null && !byId ? wanted : name;
        return roster().stream()
                .filter(agent -> byId && agent.id() == suggested.path("agent_id").asInt()
                        || agent.slug().equals(slug))
                .findFirst()
                .or(() -> roster().stream().filter(agent -> agent.name().equals(slug)).findFirst()).orElse(null);
    }

    /** @param said by the agent's definition; null leaves it to the model */
    private RunsOn runsOn(@Nullable RunsOn said, @Nullable String model) {
        return said != null ? said : model != null && models.configured(model) ? RunsOn.SERVER : RunsOn.WORKERS;
    }

    /** A server tells the model of its last turn, so it has to know the bound. */
    private int bound(int own, RunsOn runsOn) {
        return own == 0 && runsOn == RunsOn.SERVER ? turns : own;
    }

    private Hired contractor(JsonNode task, TaskType taskType, JsonNode suggested, List<String> needed,
            List<String> candidates) {
        List<String> tools = JsonFields.texts(suggested.path("tools"));
        String model = modelInTurns(task, taskType, JsonFields.text(suggested, "model"));
        String said = JsonFields.text(suggested, "runs_on");
        RunsOn runsOn = runsOn("server".equals(said) ? RunsOn.SERVER : "workers".equals(said) ? RunsOn.WORKERS : null,
                model);
        return new Hired(rules(task, CallApprovals.NONE, new AgentTerms(AgentTerms.CONTRACTOR, null,
                JsonFields.text(suggested, "agent_name", "contractor"), model,
                withoutDelegation(suggested.has("tools") ? within(tools, task, needed) : needed),
                JsonFields.integer(suggested, "max_turns", contractorTurns(runsOn)), candidates, runsOn)),
                JsonFields.text(suggested, "instructions"));
    }

    private static List<String> withoutDelegation(List<String> tools) {
        return tools.stream().filter(tool -> !tool.equals(AgentTerms.DELEGATE)).toList();
    }

    private Hired hired(RosterAgent agent, JsonNode task, TaskType taskType, List<String> needed,
            List<String> candidates) {
        roster().replaceAll(each -> each.id() == agent.id() ? each.busier() : each);
        String model = modelInTurns(task, taskType, agent.model());
        RunsOn runsOn = runsOn(agent.runsOn(), model);
        return new Hired(
                rules(task, agent.approvals(), new AgentTerms(AgentTerms.ROSTER, agent.id(), agent.slug(), model,
                        within(agent.tools(), task, needed), bound(agent.maxTurns(), runsOn), candidates, runsOn)),
                agent.instructions());
    }

    /** The tools that the agent may call, restricted to the tools that the task needs, if it names them. */
    private static List<String> within(List<String> tools, JsonNode task, List<String> needed) {
        return task.path("tools_needed").isArray() ? tools.stream().filter(needed::contains).toList() : tools;
    }

    private static @Nullable String model(JsonNode task, @Nullable String own) {
        String suggested = JsonFields.text(task, "suggested_model");
        return suggested == null ? own : suggested;
    }

    /** The model of the task or of its agent, else the preferred model of the role for such tasks; null if absent. */
    private @Nullable String modelInTurns(JsonNode task, TaskType taskType, @Nullable String own) {
        String model = model(task, own);
        String role = taskType.role();
        return model != null || role == null ? model
                : JsonFields.text(rules.config().path("model_preferences"), role);
    }

    /** The bound of a contractor that its plan does not bound: the run's where its config has one. */
    private int contractorTurns(RunsOn runsOn) {
        return rules.config().path("retry").has("max_continuations_per_task") ? bound(0, runsOn) : CONTRACTOR_TURNS;
    }

    private List<RosterAgent> roster() {
        List<RosterAgent> known = roster;
        if (known == null) {
            known = new ArrayList<>(source.get());
            roster = known;
        }
        return known;
    }
}
