package io.keelson.server.mission.plan;

import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.Rung;
import io.keelson.core.plan.TaskSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Which models a plan may name. A model that the workspace may not use is refused, and so is a model without a price:
 * its cost would silently be zero.
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
        List<PlanProblem> problems = new ArrayList<>(dependentJudges(config, plan.path("tasks"), read));
        List<Mention> mentions = Mention.in(config, plan.path("tasks"), read);
        Set<String> named = mentions.stream().map(Mention::model).collect(Collectors.toCollection(TreeSet::new));
        Map<String, Objection> refused = named.isEmpty() ? Map.of() : refused(named);
        for (Mention mention : mentions) {
            Objection objection = objection(mention, refused.get(mention.model()));
            if (objection != null) {
                problems.add(problem(objection, mention));
            }
        }
        return problems;
    }

    private @Nullable Objection objection(Mention mention, @Nullable Objection refusal) {
        boolean missing = (refusal == null || refusal == Objection.NO_PRICE) && !configured(mention.model())
                && !known().isEmpty();
        return switch (mention.use()) {
            case TURNS -> refusal;
            case PREFERENCE -> missing && refusal != null ? Objection.MODEL_UNKNOWN : refusal;
            case SERVER_CALL -> missing ? Objection.MODEL_NOT_CONFIGURED : refusal;
        };
    }

    private PlanProblem problem(Objection objection, Mention mention) {
        String model = mention.model();
        String shown = "'" + Pointers.shown(model) + "'";
        String which = mention.agent() == null ? "the model " + shown
                : "the agent '" + Pointers.shown(mention.agent()) + "' works with the model " + shown + ", which";
        return new PlanProblem(objection.code(), mention.pointer(), which + switch (objection) {
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

    /** Judges of the family of an output's author. */
    private List<PlanProblem> dependentJudges(JsonNode config, JsonNode tasks, Plan read) {
        List<PlanProblem> problems = new ArrayList<>();
        for (int i = 0; i < read.tasks().size(); i++) {
            JsonNode checks = tasks.path(i).path("verify");
            for (int j = 0; j < checks.size(); j++) {
                String judge = Mention.ofJudge(checks.path(j), config);
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
        authors.add(Mention.ofAgent(task));
        task.policy().ladder().stream().map(Rung::agent).filter(Objects::nonNull).map(AgentTerms::model)
                .filter(Objects::nonNull).forEach(authors::add);
        raw.path("steps").forEach(step -> authors.add(Mention.ofStep(step)));
        authors.remove("");
        return authors;
    }
}
