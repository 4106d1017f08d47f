package io.keelson.cli.runs;

import io.keelson.api.run.Artifact;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.api.run.Task;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.OneRunCommand;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.follow.ArtifactFiles;
import io.keelson.cli.view.Details;
import io.keelson.cli.view.GraphPicture;
import io.keelson.cli.view.PendingDecisions;
import io.keelson.cli.view.Summary;
import io.keelson.cli.view.TaskDetails;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.Runs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "show", description = {"Shows a run with its tasks, steps, errors and artifacts.",
        "Child runs are listed below the steps that started them, three levels deep.",
        "With a task: its steps, with input, output and error of each attempt."},
        footer = {"  keelson show latest",
                "  keelson show latest fetch               # one task: inputs and results of its steps",
                "  keelson show latest --out reports       # copies its artifacts there",
                "  keelson show latest --svg > run.svg     # a picture of what depends on what",
                "  keelson show latest --json | jq '.tasks[] | {key, state}'"})
public final class ShowCommand extends OneRunCommand {

    @Parameters(index = "1", arity = "0..1", paramLabel = "TASK", description = "The key of one of its tasks.")
    @Nullable String task;

    @Option(names = "--out", paramLabel = "DIR", description = "Copy the run's artifacts to this folder.")
    @Nullable Path out;

    @Option(names = "--svg", description = "Print a picture of its tasks and their dependencies.")
    boolean svg;

    @Override
    protected void prepare() {
        if (svg && (task != null || out != null || json)) {
            throw CliException.usage("USAGE", "--svg prints the picture of a run and nothing else");
        }
        if (out != null) {
            ArtifactFiles.prepare(out);
        }
    }

    @Override
    protected void run(Keelson keelson, String id) throws IOException {
        if (svg) {
            print(GraphPicture.lines(keelson.api().get("/runs/" + id + "/graph")));
        } else if (task != null) {
            task(keelson, RunDocuments.task(keelson, id, task));
        } else {
            List<Artifact> artifacts = keelson.runs().artifacts(id);
            Map<Artifact, Path> copies =
                    out == null ? Map.of() : ArtifactFiles.copy(keelson.runs(), artifacts, out);
            print(() -> RunDocuments.whole(keelson, id, true), () -> lines(keelson, id, artifacts, copies));
        }
    }

    private List<String> lines(Keelson keelson, String id, List<Artifact> artifacts, Map<Artifact, Path> copies) {
        Runs runs = keelson.runs();
        Run shown = runs.get(id);
        List<Step> steps = runs.steps(id);
        List<String> lines = new ArrayList<>(Details.lines(shown, RunDocuments.attempts(runs, shown), runs.tasks(id),
                steps, RunDocuments.blocked(keelson, shown, steps), RunDocuments.family(runs, shown),
                clock().instant(), style()));
        lines.addAll(Summary.lines(shown, RunDocuments.failures(runs, shown), RunDocuments.results(runs, shown),
                artifacts, copies, ProgramName.current(), style()));
        if (shown.archivedAt() != null) {
            lines.add(style().dim("archived at " + shown.archivedAt() + "; bring it back with: " + ProgramName.current()
                    + " archive restore " + id));
        }
        lines.addAll(Summary.signals(shown, steps, ProgramName.current()));
        PendingDecisions pendingDecisions = RunDocuments.waits(keelson, shown);
        if (pendingDecisions.any()) {
            lines.addAll(Summary.waiting(pendingDecisions, ProgramName.current(), style()));
        }
        return lines;
    }

    private void task(Keelson keelson, Task shown) {
        List<Step> steps = RunDocuments.steps(keelson, shown);
        if (json) {
            ObjectNode document = Json.object();
            document.set("task", keelson.api().get("/tasks/" + shown.id()));
            ArrayNode items = document.putArray("steps");
            for (Step step : steps) {
                ObjectNode item = (ObjectNode) keelson.api().get("/steps/" + step.id());
                item.set("attempts", keelson.api().get("/steps/" + step.id() + "/attempts").path("items"));
                items.add(item);
            }
            print(document);
            return;
        }
        TaskDetails details = new TaskDetails(shown, clock().instant(), style());
        Map<String, String> names = steps.stream().collect(Collectors.toMap(Step::id, Step::name));
        steps.forEach(step -> details.add(step, keelson.steps().attempts(step.id()),
                step.calledBy() == null ? null : names.getOrDefault(step.calledBy(), step.calledBy())));
        if (shown.round() != null && shown.groupId() == null) {
            details.addRounds(keelson.tasks().rounds(shown.id()));
        }
        print(details.lines());
        if (shown.attemptNumber() > 1) {
            note("earlier attempts: " + ProgramName.current() + " transcript " + shown.runId() + " " + shown.key()
                    + " --attempt all");
        }
    }
}
