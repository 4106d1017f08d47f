package io.keelson.server.mission.plan;

import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A place of a mission that names a model, or an agent with a model.
 *
 * @param agent the agent that works with the model; null if the document names the model itself
 */
record Mention(String pointer, String model, Use use, @Nullable String agent) {

    enum Use {
        /** The server or a worker calls the model. */
        TURNS, PREFERENCE,
        /** Only the server calls the model. */
        SERVER_CALL
    }

    /** All mentions of non-empty names: of the config, of the plan as written, of the plan with its agents. */
    static List<Mention> in(JsonNode config, JsonNode tasks, Plan read) {
        List<Mention> all = new ArrayList<>();
        config.path("model_preferences").forEachEntry((role, model) -> all.add(new Mention(
                Pointers.of("/config/model_preferences", role), model.asString(""), Use.PREFERENCE, null)));
        JsonNode ladder = config.path("ladder");
        for (int i = 0; i < ladder.size(); i++) {
            turns(all, "/config/ladder/" + i + "/model", JsonFields.text(ladder.path(i), "model", ""), null);
        }
        for (int i = 0; i < tasks.size(); i++) {
            ofTask(all, "/plan/tasks/" + i, tasks.path(i), config);
        }
        for (int i = 0; i < read.tasks().size(); i++) {
            ofAgents(all, "/plan/tasks/" + i, tasks.path(i), read.tasks().get(i));
        }
        all.removeIf(mention -> mention.model.isEmpty());
        return all;
    }

    private static void ofTask(List<Mention> all, String at, JsonNode task, JsonNode config) {
        turns(all, at + "/suggested_model", suggested(task), null);
        String retry = task.path("retry").has("escalate_model") ? at : "/config";
        Retries.models(task, config).forEach(model -> turns(all, retry + "/retry/escalate_model", model, null));
        JsonNode checks = task.path("verify");
        for (int j = 0; j < checks.size(); j++) {
            all.add(new Mention(at + "/verify/" + j + "/model", ofJudge(checks.path(j), config), Use.SERVER_CALL,
                    null));
        }
        JsonNode steps = task.path("steps");
        for (int j = 0; j < steps.size(); j++) {
            all.add(new Mention(at + "/steps/" + j + "/input/model", ofStep(steps.path(j)), Use.SERVER_CALL, null));
        }
    }

    private static void ofAgents(List<Mention> all, String at, JsonNode task, TaskSpec read) {
        String agents = ofAgent(read);
        String suggested = suggested(task);
        if (!agents.equals(suggested)) {
            turns(all, at, agents, read.agent());
        }
        for (int k = 0; k < read.steps().size(); k++) {
            String worst = ofWorstCase(read.steps().get(k));
            if (!worst.equals(agents) && !worst.equals(suggested)) {
                turns(all, at + (task.path("steps").isEmpty() ? "" : "/steps/" + k) + "/worst_case/model", worst, null);
            }
        }
    }

    private static void turns(List<Mention> all, String pointer, String model, @Nullable String agent) {
        all.add(new Mention(pointer, model, Use.TURNS, agent));
    }

    private static String suggested(JsonNode task) {
        return JsonFields.text(task, "suggested_model", "");
    }

    /** The model that a step asks; empty if absent, and where an expression yields it. */
    static String ofStep(JsonNode step) {
        String model = JsonFields.text(step, "tool", "").equals("model.generate")
                ? JsonFields.text(step.path("input"), "model", "")
                : "";
        return model.contains("${") ? "" : model;
    }

    /** The model that judges; empty for a check of another kind. */
    static String ofJudge(JsonNode check, JsonNode config) {
        String judge = VerifyReader.judge(config);
        return VerifyReader.MODEL.equals(JsonFields.text(check, "kind"))
                ? JsonFields.text(check, "model", judge == null ? "" : judge)
                : "";
    }

    private static String ofWorstCase(StepSpec step) {
        return step.worstCase() == null ? "" : step.worstCase().model();
    }

    /** The model of the agent that does the task in turns; empty if absent. */
    static String ofAgent(TaskSpec task) {
        AgentTerms terms = task.policy().agent();
        boolean turns = task.steps().stream().anyMatch(step -> step.kind() == StepKind.TURN);
        return !turns || terms == null || terms.model() == null ? "" : terms.model();
    }
}
