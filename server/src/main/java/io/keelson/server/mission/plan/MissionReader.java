package io.keelson.server.mission.plan;

import io.keelson.core.plan.Plan;
import io.keelson.core.plan.PlanCheck;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.ToolKnowledge;
import io.keelson.server.base.json.JsonSize;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads missions: the published schema validates the shape, this class interprets the content, and the
 * core's plan check validates the plan. All problems are reported together. Safe for use by many threads.
 */
public final class MissionReader {
    private static final int PRIORITY = 100;
    private static final int LAST_YEAR = 9999;
    private static final List<String> OF_A_RUN =
            List.of("recipe", "input", "external_id", "external_id_policy", "start",
                    "start_at", "trigger");
    private static final Pattern VERIFIER =
            Pattern.compile("(/plan/tasks/\\d+(?:/(?:switch/\\d+/(?:tasks|else)|group)/\\d+)*/verify/\\d+)(/.*)?");

    private final MissionContext context;
    private final Turn turn;

    /** Bounds the concurrent reading of documents: a hostile one takes seconds. */
    public interface Turn {

        /** Does the work and returns its result. */
        ReadResult<CheckedMission> read(Supplier<ReadResult<CheckedMission>> work);
    }

    /** @param turn where documents are read */
    public MissionReader(MissionContext context, Turn turn) {
        this.context = context;
        this.turn = turn;
    }

    /** Reads on the calling thread. */
    public MissionReader(MissionContext context) {
        this(context, Supplier::get);
    }

    /** Whether a mission with these needs is still valid. */
    boolean meets(MissionNeeds needs) {
        return needs.areMet(context);
    }

    /** A mission file or a request's body. */
    public ReadResult<CheckedMission> read(byte[] bytes, Format format) {
        return switch (Documents.read(bytes, format)) {
            case ReadResult.Ok<JsonNode>(JsonNode document) -> read(document);
            case ReadResult.Invalid<JsonNode>(List<PlanProblem> problems) -> new ReadResult.Invalid<>(problems);
        };
    }

    /** @param document as {@link Documents} gives it; not changed */
    public ReadResult<CheckedMission> read(JsonNode document) {
        return turn.read(() -> read(document, true, context));
    }

    /** Reads a mission whose plan is from a template: a person approves it, unless a level says otherwise. */
    public ReadResult<CheckedMission> readOfTemplate(JsonNode document) {
        return turn.read(() -> read(document, true, context.ofTemplates()));
    }

    /** @param needs notes the state that the mission depends on */
    ReadResult<CheckedMission> read(JsonNode document, MissionNeeds needs) {
        return turn.read(() -> read(document, true, needs.noting(context)));
    }

    /**
     * A mission that is kept to be run again. It is judged as any, but inputs without a default may stay open, and what
     * belongs to a single run may not stand in it.
     *
     * @param document as {@link Documents} gives it; not changed
     */
    public ReadResult<CheckedMission> readRecipe(JsonNode document) {
        return turn.read(() -> read(document, false, context));
    }

    private static ReadResult<CheckedMission> read(JsonNode written, boolean run, MissionContext context) {
        if (JsonSize.chars(written, Documents.MAX_BYTES) > Documents.MAX_BYTES) {
            return new ReadResult.Invalid<>(List.of(Documents.tooLarge()));
        }
        Problems problems = new Problems();
        problems.addAll(SchemaCheck.MISSION.check(written));
        ToolKnowledge tools = context.tools();
        ModelRules models = context.models();
        JsonNode planned = run && GoalMissions.is(written)
                ? GoalMissions.planned(written, GoalMissions.modelPlans(written, tools, models))
                : written;
        if (!planned.isObject()) {
            return new ReadResult.Invalid<>(problems.all());
        }
        FlatPlan flat = FlatPlan.of(planned.path("plan"));
        JsonNode document = flattened(planned, flat);
        String agent = JsonFields.text(document, "agent_slug");
        boolean alone = agent != null && !document.has("plan") && !document.has("recipe");
        if (alone && agent != null) {
            return context.hires(agent) ? read(GoalMissions.forAgent(document, agent), run, context)
                    : new ReadResult.Invalid<>(List.of(new PlanProblem("UNKNOWN_REFERENCE", "/agent_slug",
                            "the roster has no agent '" + Pointers.shown(agent) + "'")));
        }
        if (!run) {
            OF_A_RUN.stream().filter(document::has).forEach(key -> problems.add("UNKNOWN_KEY", "/" + key,
                    "a recipe has no '" + key + "', which belongs to a single run"));
            MissionNames.checkTool(document, problems);
        }
        if (run && document.has("recipe")) {
            problems.add("RECIPE_UNRESOLVED", "/recipe", "recipes are known only to a server: give the plan here");
        } else if (!document.has("plan")) {
            problems.add("PLAN_REQUIRED", "/plan", GoalMissions.refusal(run));
        }
        MissionNames.check(document, problems);
        Instant startAt = startAt(document, problems);
        AutonomyDefault.Applied autonomous =
                (run ? context.autonomy().get() : AutonomyDefault.PRODUCT).to(JsonFields.object(document, "config"));
        ObjectNode config = autonomous.config();
        FailureConfig.checkPlanners(config, problems);
        LadderReader.check(config, problems);
        RunConfigReader.checkAmounts(config.path("budget"), problems);
        Problems ofPlan = new Problems();
        RunConfigReader.checkEstimates(document.path("plan"), ofPlan);
        StepReader steps = new StepReader(context.toolTimeout(), ofPlan);
        ToolRules toolRules = new ToolRules(tools.workspaceRule(), config);
        TaskReader taskReader = new TaskReader(steps, RunConfigReader.taskRetry(config),
                AgentAssignment.choosing(context::agents, agent, models, RunConfigReader.turns(config),
                        tools::openWorld,
                        toolRules),
                new UntrustedInputs(tools)::marked, config, ofPlan);
        Plan plan = plan(document.path("plan"), taskReader);
        RunPolicy policy = RunConfigReader.policy(config, document.path("plan"), steps);
        problems.addAll(flat.problems());
        problems.addAll(ofPlan, flat);
        String name = MissionNames.ofRun(document, problems);
        ObjectNode declarations = JsonFields.object(document, "inputs");
        ObjectNode input = new InputValues(declarations, run, problems).resolve(JsonFields.object(document, "input"));
        Set<String> inputs = Set.copyOf(declarations.propertyNames());
        List<PlanProblem> followUps = new ArrayList<>();
        PlanCheck.check(plan, tools, inputs).forEach(problem -> followUps.add(asWritten(document, problem)));
        followUps.addAll(new RunChecks(tools, plan, inputs).check(JsonFields.json(document, "output"), policy,
                FailureConfig.plannerAt(config)));
        followUps.addAll(TimeCheck.check(plan, policy.timeouts()));
        followUps.addAll(models.check(document.path("config"), document.path("plan"), plan));
        followUps.addAll(toolRules.check(document.path("plan"), plan, tools));
        flat.asWritten(followUps).stream().filter(problem -> !follows(problem, problems)).toList()
                .forEach(problems::add);
        return problems.isEmpty()
                ? new ReadResult.Ok<>(
                        mission(document, autonomous, name, plan, policy, taskReader, declarations, input, startAt))
                : new ReadResult.Invalid<>(problems.all());
    }

    private static JsonNode flattened(JsonNode document, FlatPlan flat) {
        if (flat.plan() == document.path("plan")) {
            return document;
        }
        ObjectNode flattened = JsonNodeFactory.instance.objectNode().setAll((ObjectNode) document);
        flattened.set("plan", flat.plan());
        return flattened;
    }

    /** Whether a problem follows from reported ones; a wrong verification makes a wrong call, too. */
    static boolean follows(PlanProblem problem, Problems said) {
        Matcher verifier = VERIFIER.matcher(problem.pointer());
        return said.cover(problem.pointer()) || verifier.lookingAt() && said.coverBelow(verifier.group(1));
    }

    private static CheckedMission mission(JsonNode document, AutonomyDefault.Applied autonomous, String name, Plan plan,
            RunPolicy policy, TaskReader tasks, ObjectNode declarations, ObjectNode input, @Nullable Instant startAt) {
        return new CheckedMission(name, JsonFields.text(document, "goal", JsonFields.text(document, "task", name)),
                JsonFields.text(document, "description"), plan, normal(document.path("plan"), plan, tasks),
                autonomous.config(), autonomous.source(), policy, declarations, input,
                JsonFields.integer(document, "priority", PRIORITY), JsonFields.text(document, "agent_slug"),
                JsonFields.text(document, "trigger"),
                document.path("tags").values().stream().map(JsonNode::asString).toList(),
                JsonFields.text(document, "external_id"),
                ExternalIdPolicy.of(JsonFields.text(document, "external_id_policy", "reject")),
                document.path("start").asBoolean(false), startAt, JsonFields.json(document, "output"));
    }

    static Plan plan(JsonNode raw, TaskReader reader) {
        List<TaskSpec> tasks = new ArrayList<>();
        for (int i = 0; i < raw.path("tasks").size() && raw.path("tasks").isArray(); i++) {
            tasks.add(reader.read(raw.path("tasks").path(i), i, "/plan/tasks/" + i));
        }
        return new Plan(JsonFields.integer(raw, "version", 1), reader.marked(tasks),
                JsonFields.text(raw, "strategy", Plan.MIXED));
    }

    static ObjectNode normal(JsonNode raw, Plan plan, TaskReader reader) {
        ObjectNode normal = JsonNodeFactory.instance.objectNode();
        normal.put("version", plan.version()).put("strategy", plan.strategy());
        ArrayNode tasks = normal.putArray("tasks");
        for (int i = 0; i < plan.tasks().size(); i++) {
            tasks.add(reader.normal(raw.path("tasks").path(i), plan.tasks().get(i)));
        }
        raw.properties().forEach(member -> normal.putIfAbsent(member.getKey(), member.getValue()));
        return normal;
    }

    /** When the run is to start by itself; null if absent or invalid. */
    private static @Nullable Instant startAt(JsonNode document, Problems problems) {
        JsonNode given = document.path("start_at");
        if (!given.isString()) {
            return null;
        }
        try {
            OffsetDateTime time = OffsetDateTime.parse(given.stringValue());
            if (time.getYear() > 0 && time.getYear() <= LAST_YEAR) {
                return time.toInstant();
            }
        } catch (DateTimeException e) {
            // reported below, as is a year that no calendar has
        }
        problems.add("INVALID_VALUE", "/start_at",
                "must be a time with its offset (RFC 3339), such as 2026-12-01T06:00:00Z or 2026-12-01T07:00:00+01:00");
        return null;
    }

    /** The plan check speaks of a task's {@code id} and of verifiers' inputs; a document may have written it otherwise. */
    private static PlanProblem asWritten(JsonNode document, PlanProblem problem) {
        String pointer = problem.pointer();
        Matcher verifier = VERIFIER.matcher(pointer);
        if (verifier.matches() && verifier.group(2) != null) {
            pointer = verifier.group(1) + VerifyReader.asWritten(document.at(verifier.group(1)), verifier.group(2));
        } else if (pointer.endsWith("/id") && document.at(pointer).isMissingNode()) {
            pointer = pointer.substring(0, pointer.length() - "id".length()) + "temp_id";
        } else {
            pointer = UndoReader.asWritten(document, pointer);
        }
        return new PlanProblem(problem.code(), pointer, problem.message());
    }
}
