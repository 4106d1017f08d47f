package io.keelson.cli.authoring;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ErrorReport;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.MissionCheck;
import io.keelson.cli.common.MissionFile;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.core.plan.PlanProblem;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "validate", description = {
        "Checks a mission file and lists all its problems, as creating a run would.",
        "Asks the server at KEELSON_URL or the one running for the data folder, and changes nothing there. Without a server, recipes, tools of workers, prices of models and the workspace's autonomy level are unknown."},
        footer = {
                "  keelson validate examples/repository-report.yaml",
                "  keelson validate mission.yaml --input path=.",
                "  keelson validate mission.yaml --tool my.tool   # a tool that a worker of yours will serve",
                "  generate-mission | keelson validate -"})
public final class ValidateCommand extends CliCommand {

    @Parameters(paramLabel = "FILE", description = "The mission, YAML or JSON; - for standard input.")
    String file;

    @Option(names = {"-i", "--input"}, paramLabel = "NAME=VALUE", description = "The value of an input; repeatable.")
    Map<String, String> inputs = new LinkedHashMap<>();

    @Option(names = "--tool", paramLabel = "NAME", description = "A tool that workers serve; repeatable.")
    Set<String> tools = new LinkedHashSet<>();

    @Override
    public Integer call() {
        MissionFile mission = MissionFile.read(file);
        mission.inputs(inputs, Path.of("").toAbsolutePath());
        Keelson server = ServerConnection.find(settings());
        if (server != null) {
            mission.ofRecipe(server);
        }
        Verdict verdict = server == null ? null : remote(server, mission.document());
        return print(mission, verdict == null ? local(mission.document()) : verdict);
    }

    /**
     * The findings.
     *
     * @param answer the server's yes; null without one
     */
    private record Verdict(List<PlanProblem> problems, @Nullable JsonNode answer, boolean byServer) {}

    private Verdict local(JsonNode document) {
        return new Verdict(MissionCheck.problems(document, clock(), tools), null, false);
    }

    /** The problems that creating a run would report; null if the server cannot check them. */
    private @Nullable Verdict remote(Keelson server, ObjectNode document) {
        try {
            return new Verdict(List.of(), server.api().post("/missions/validate", document), true);
        } catch (KeelsonException e) {
            if (!e.problems().isEmpty()) {
                return new Verdict(ErrorReport.problems(e), null, true);
            }
            if (e.status() != 0 && e.status() != 404) {
                throw e;
            }
            note(e.getMessage() + "; the file is checked without a server");
            return null;
        }
    }

    private int print(MissionFile mission, Verdict verdict) {
        List<PlanProblem> faults = MissionCheck.faults(mission.document(), verdict.problems, tools);
        if (!faults.isEmpty()) {
            throw mission.invalid(faults);
        }
        List<String> missing = MissionCheck.missing(verdict.problems);
        JsonNode document = mission.document();
        int tasks = verdict.answer == null ? document.path("plan").path("tasks").size()
                : verdict.answer.path("tasks").asInt(0);
        if (json) {
            ObjectNode valid = Json.object().put("valid", true)
                    .put("name", name(document, verdict.answer)).put("tasks", tasks)
                    .put("checked_by", verdict.byServer ? "server" : "file");
            if (verdict.answer != null) {
                valid.set("autonomy", verdict.answer.path("autonomy"));
            }
            missing.forEach(valid.putArray("missing_inputs")::add);
            MissionCheck.advice(document).forEach(valid.putArray("warnings")::add);
            print(valid);
            return ExitCode.OK;
        }
        print(List.of(file + ": valid, " + plan(document, tasks)
                + (missing.isEmpty() ? ""
                        : "; a run needs --input for " + TerminalText.clean(String.join(", ", missing)))));
        if (verdict.answer != null && verdict.answer.path("autonomy").isObject()) {
            print(List.of(autonomy(verdict.answer.path("autonomy"))));
        }
        MissionCheck.advice(document).forEach(each -> note("warning: " + TerminalText.clean(each)));
        if (!verdict.byServer && Stream
                .concat(document.path("config").path("model_preferences").valueStream(),
                        document.path("plan").path("tasks").valueStream().map(task -> task.path("suggested_model")))
                .anyMatch(JsonNode::isString)) {
            note("the mission names models: a server accepts it only if they have a price (`" + ProgramName.current()
                    + " prices`)");
        }
        return ExitCode.OK;
    }

    private static String autonomy(JsonNode autonomy) {
        String source = switch (autonomy.path("source").asString("")) {
            case "mission" -> "the mission's";
            case "workspace" -> "the workspace's default";
            default -> "by default";
        };
        String approval = switch (autonomy.path("plan_approval").asString("")) {
            case "person" -> "a person approves the plan";
            case "above_threshold" -> "a person approves the plan if its estimate is above auto_approve_threshold";
            default -> "the plan needs no approval";
        };
        return "autonomy " + TerminalText.clean(autonomy.path("level").asString("")) + ", " + source + ": " + approval;
    }

    private static @Nullable String name(JsonNode document, @Nullable JsonNode answer) {
        return answer == null ? document.path("name").asString(null) : answer.path("name").asString(null);
    }

    private static String plan(JsonNode document, int tasks) {
        if (tasks > 0) {
            return AmountText.count(tasks, "task");
        }
        return document.has("recipe") ? "its plan comes from a recipe"
                : document.has("agent_slug") ? "its agent has one task"
                        : "its plan comes from a planner or the template of its type";
    }
}
