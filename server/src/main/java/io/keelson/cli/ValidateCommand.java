package io.keelson.cli;

import io.keelson.cli.view.Amounts;
import io.keelson.core.plan.Problem;
import io.keelson.server.LocalTools;
import io.keelson.server.plan.Mission;
import io.keelson.server.plan.Reading;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "validate", description = "Checks a mission file and lists everything that is wrong with it. Needs no "
        + "server and no database, and so knows no prices: whether the models that it names have one, a server checks.",
        footerHeading = "%nExamples:%n",
        footer = {
                "  keelson validate examples/repository-report.yaml",
                "  keelson validate mission.yaml --tool my.tool   # a tool that a worker of yours serves",
                "  generate-mission | keelson validate -"})
final class ValidateCommand extends CliCommand {

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
        return switch (new LocalTools(clock()).reader(tools).read(mission.document())) {
            case Reading.Done<Mission>(Mission read) -> valid(read);
            case Reading.Refused<Mission>(List<Problem> problems) -> open(mission, problems);
        };
    }

    /** What only a run has, its inputs' values, or only a server, a planner, is no fault of the file. */
    private int open(MissionFile mission, List<Problem> problems) {
        boolean goal = mission.document().has("goal") || mission.document().has("task");
        List<Problem> wrong = problems.stream().filter(each -> !each.code().equals("INPUT_MISSING")
                && !(goal && each.code().equals("PLAN_REQUIRED"))).toList();
        if (!wrong.isEmpty()) {
            throw mission.invalid(wrong);
        }
        List<String> missing = problems.stream().filter(each -> each.code().equals("INPUT_MISSING"))
                .map(each -> each.pointer().substring("/input/".length())).toList();
        boolean planned = problems.stream().anyMatch(each -> each.code().equals("PLAN_REQUIRED"));
        int tasks = mission.document().path("plan").path("tasks").size();
        if (json) {
            ObjectNode document = JsonNodeFactory.instance.objectNode().put("valid", true)
                    .put("name", mission.document().path("name").asString(null)).put("tasks", tasks);
            missing.forEach(document.putArray("missing_inputs")::add);
            print(document);
            return ExitCode.OK;
        }
        print(List.of(file + ": valid, " + Amounts.count(tasks, "task")
                + (missing.isEmpty() ? "" : "; a run needs --input for " + String.join(", ", missing))
                + (planned ? "; a planner or a template of the server makes the plan" : "")));
        return ExitCode.OK;
    }

    private int valid(Mission mission) {
        int tasks = mission.plan().tasks().size();
        if (json) {
            print(JsonNodeFactory.instance.objectNode().put("valid", true).put("name", mission.name())
                    .put("tasks", tasks));
        } else {
            print(List.of(file + ": valid, " + Amounts.count(tasks, "task")));
            if (mission.planJson().path("tasks").valueStream().anyMatch(task -> task.has("suggested_model"))) {
                note("it names models: a server takes it only when they have a price (`" + Cli.command() + " prices`)");
            }
        }
        return ExitCode.OK;
    }
}
