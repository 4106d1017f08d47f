package io.keelson.server.mission.plan;

import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.Rung;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Which models a plan may name. One that the workspace may not use is refused, and one without a price: what it costs
 * would be a silent zero.
 */
@FunctionalInterface
public interface ModelRules {

    /** Rules without a price list and a workspace: nothing is refused. */
    ModelRules UNKNOWN = models -> Map.of();

    /** Why a model is refused. */
    enum Objection {
        NO_PRICE,
        /** The objection is to a fallback of the model. */
        NO_PRICE_OF_FALLBACK, MODEL_NOT_ALLOWED,
        /** A preference that is no model of the server and has no price. */
        MODEL_UNKNOWN,
        /** The server is to call it and does not have it. */
        MODEL_NOT_CONFIGURED;

        private String code() {
            return switch (this) {
                case NO_PRICE, NO_PRICE_OF_FALLBACK -> "NO_PRICE";
                case MODEL_NOT_ALLOWED -> "MODEL_NOT_ALLOWED";
                case MODEL_UNKNOWN -> "MODEL_UNKNOWN";
                case MODEL_NOT_CONFIGURED -> "MODEL_NOT_CONFIGURED";
            };
        }
    }

    /** Whether this server calls the model itself. */
    default boolean configured(String model) {
        return false;
    }

    /** The models that this server calls and the workspace may use, by name. */
    default List<String> known() {
        return List.of();
    }

    /** The family of a model that this server calls itself; null for another. */
    default @Nullable String family(String model) {
        return null;
    }

    /** The refused ones of the models; called once for a plan that names any. */
    Map<String, Objection> refused(Set<String> models);

    /**
     * @param config with pointers from {@code /config}
     * @param plan with pointers from {@code /plan}
     * @param read the same plan, with the agents that its tasks were given
     */
    default List<PlanProblem> check(JsonNode config, JsonNode plan, Plan read) {
        JsonNode tasks = plan.path("tasks");
        JsonNode preferences = config.path("model_preferences");
        Set<String> named = new TreeSet<>();
        preferences.forEach(model -> named.add(model.asString("")));
        JsonNode ladder = config.path("ladder");
        ladder.forEach(rung -> named.add(JsonFields.text(rung, "model", "")));
        tasks.forEach(task -> {
            named.addAll(Retries.models(task, config));
            named.add(JsonFields.text(task, "suggested_model", ""));
            task.path("steps").forEach(step -> named.add(ofStep(step)));
            task.path("verify").forEach(check -> named.add(ofJudge(check, config)));
        });
        read.tasks().forEach(task -> {
            named.add(ofAgent(task));
            task.steps().forEach(step -> named.add(ofWorstCase(step)));
        });
        named.remove("");
        Map<String, Objection> refused = named.isEmpty() ? Map.of() : refused(named);
        List<PlanProblem> problems = new ArrayList<>(dependentJudges(config, tasks, read));
        if (named.isEmpty()) {
            return problems;
        }
        preferences.forEachEntry((role, model) -> {
            Objection objection = refused.get(model.asString(""));
            if (objection != null) {
                boolean unknown = objection == Objection.NO_PRICE && !known().isEmpty()
                        && !configured(model.asString());
                problems.add(problem(unknown ? Objection.MODEL_UNKNOWN : objection,
                        Pointers.of("/config/model_preferences", role), model.asString(), null));
            }
        });
        for (int i = 0; i < ladder.size(); i++) {
            String model = JsonFields.text(ladder.path(i), "model", "");
            Objection objection = refused.get(model);
            if (objection != null) {
                problems.add(problem(objection, Pointers.of("/config/ladder", i) + "/model", model, null));
            }
        }
        for (int i = 0; i < tasks.size(); i++) {
            String model = JsonFields.text(tasks.path(i), "suggested_model", "");
            Objection objection = refused.get(model);
            if (objection != null) {
                problems.add(problem(objection, Pointers.of(Pointers.of("/plan/tasks", i), "suggested_model"), model,
                        null));
            }
            for (String retried : Retries.models(tasks.path(i), config)) {
                Objection ofRetry = refused.get(retried);
                if (ofRetry != null) {
                    problems.add(problem(ofRetry, tasks.path(i).path("retry").has("escalate_model")
                            ? Pointers.of("/plan/tasks", i) + "/retry/escalate_model"
                            : "/config/retry/escalate_model", retried, null));
                }
            }
            JsonNode checks = tasks.path(i).path("verify");
            for (int j = 0; j < checks.size(); j++) {
                String judge = ofJudge(checks.path(j), config);
                Objection ofJudge = ofCall(judge, refused);
                if (ofJudge != null) {
                    problems.add(problem(ofJudge, Pointers.of("/plan/tasks", i) + "/verify/" + j + "/model", judge,
                            null));
                }
            }
            JsonNode steps = tasks.path(i).path("steps");
            for (int j = 0; j < steps.size(); j++) {
                Objection ofStep = ofCall(ofStep(steps.path(j)), refused);
                if (ofStep != null) {
                    problems.add(problem(ofStep, Pointers.of("/plan/tasks", i) + "/steps/" + j + "/input/model",
                            ofStep(steps.path(j)), null));
                }
            }
        }
        for (int i = 0; i < read.tasks().size(); i++) {
            TaskSpec task = read.tasks().get(i);
            String model = ofAgent(task);
            Objection objection = refused.get(model);
            if (objection != null && !JsonFields.text(tasks.path(i), "suggested_model", "").equals(model)) {
                problems.add(problem(objection, Pointers.of("/plan/tasks", i), model, task.agent()));
            }
            for (int k = 0; k < task.steps().size(); k++) {
                String ofStep = ofWorstCase(task.steps().get(k));
                Objection other = refused.get(ofStep);
                if (other != null && !ofStep.equals(model)
                        && !JsonFields.text(tasks.path(i), "suggested_model", "").equals(ofStep)) {
                    String at = Pointers.of("/plan/tasks", i);
                    problems.add(problem(other, tasks.path(i).path("steps").isEmpty() ? at + "/worst_case/model"
                            : at + "/steps/" + k + "/worst_case/model", ofStep, null));
                }
            }
        }
        return problems;
    }

    /** The objection to a model that only the server can call; null if absent, and for the empty name. */
    private @Nullable Objection ofCall(String model, Map<String, Objection> refused) {
        Objection objection = refused.get(model);
        boolean missing = (objection == null || objection == Objection.NO_PRICE) && !model.isEmpty()
                && !configured(model) && !known().isEmpty();
        return missing ? Objection.MODEL_NOT_CONFIGURED : objection;
    }

    /** @param agent that works with the model; null where the document names the model itself */
    private PlanProblem problem(Objection objection, String pointer, String model, @Nullable String agent) {
        String shown = "'" + Pointers.shown(model) + "'";
        String which = agent == null ? "the model " + shown
                : "the agent '" + Pointers.shown(agent) + "' works with the model " + shown + ", which";
        return new PlanProblem(objection.code(), pointer, which + switch (objection) {
            case NO_PRICE ->
                " has no price: set one with `keelson prices set model NAME --input CREDITS --output CREDITS`,"
                        + " or PUT /api/v1/prices"
                        + (known().isEmpty() || configured(model) ? "" : others(model));
            case NO_PRICE_OF_FALLBACK -> " has a fallback without a price: `keelson models show` names its fallbacks";
            case MODEL_NOT_ALLOWED -> " is not among the models that the workspace may use: an operator sets them with"
                    + " `keelson workspaces models`";
            case MODEL_NOT_CONFIGURED -> " is not a model of this server" + others(model);
            case MODEL_UNKNOWN ->
                " is not known" + others(model) + ". A model that workers call needs a price: set one with"
                        + " `keelson prices set model NAME --input CREDITS --output CREDITS`";
        });
    }

    private String others(String model) {
        return NameSuggestion.hint(model, known()) + "; this server calls " + String.join(", ", known());
    }

    /** The model that a step asks; empty if absent, and where an expression yields it. */
    private static String ofStep(JsonNode step) {
        String model = JsonFields.text(step, "tool", "").equals("model.generate")
                ? JsonFields.text(step.path("input"), "model", "")
                : "";
        return model.contains("${") ? "" : model;
    }

    /** The model that judges; empty for a check of another kind. */
    private static String ofJudge(JsonNode check, JsonNode config) {
        String judge = VerifyReader.judge(config);
        return VerifyReader.MODEL.equals(JsonFields.text(check, "kind"))
                ? JsonFields.text(check, "model", judge == null ? "" : judge)
                : "";
    }

    /** Judges of the family of an output's author. */
    private List<PlanProblem> dependentJudges(JsonNode config, JsonNode tasks, Plan read) {
        List<PlanProblem> problems = new ArrayList<>();
        for (int i = 0; i < read.tasks().size(); i++) {
            JsonNode checks = tasks.path(i).path("verify");
            for (int j = 0; j < checks.size(); j++) {
                String judge = ofJudge(checks.path(j), config);
                String family = judge.isEmpty() || !checks.path(j).path("independent").asBoolean(true) ? null
                        : family(judge);
                if (family != null) {
                    String at = Pointers.of("/plan/tasks", i) + "/verify/" + j;
                    authors(tasks.path(i), read.tasks().get(i)).stream().filter(author -> family.equals(family(author)))
                            .findFirst().ifPresent(author -> problems.add(new PlanProblem("JUDGE_NOT_INDEPENDENT", at,
                                    "the judge '" + Pointers.shown(judge) + "' is of the family '"
                                            + Pointers.shown(family)
                                            + "', as the author '" + Pointers.shown(author)
                                            + "': name a model of another family, or set independent: false")));
                }
            }
        }
        return problems;
    }

    /** The models whose answers the task's output is made of. */
    private static Set<String> authors(JsonNode raw, TaskSpec task) {
        Set<String> authors = new TreeSet<>();
        authors.add(ofAgent(task));
        task.policy().ladder().stream().map(Rung::agent).filter(Objects::nonNull).map(AgentTerms::model)
                .filter(Objects::nonNull).forEach(authors::add);
        raw.path("steps").forEach(step -> authors.add(ofStep(step)));
        authors.remove("");
        return authors;
    }

    private static String ofWorstCase(StepSpec step) {
        return step.worstCase() == null ? "" : step.worstCase().model();
    }

    /** The model of the agent that does the task in turns; empty if absent. */
    private static String ofAgent(TaskSpec task) {
        AgentTerms terms = task.policy().agent();
        boolean turns = task.steps().stream().anyMatch(step -> step.kind() == StepKind.TURN);
        return !turns || terms == null || terms.model() == null ? "" : terms.model();
    }
}
