package io.keelson.cli.runs;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.view.Summary;
import io.keelson.client.Explanation;
import io.keelson.client.Keelson;
import io.keelson.client.Task;
import io.keelson.server.app.InvalidSettingsException;
import io.keelson.server.app.StartupException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(name = "explain",
        description = "Shows why a run or one of its tasks waits: upstream task, timer, limit, person, lease or missing worker.",
        footerHeading = "%nExamples:%n",
        footer = {"  keelson explain latest", "  keelson explain latest report"})
public final class ExplainCommand extends CliCommand {

    /** Reasons that end with an answer of a person. */
    private static final Set<String> HUMAN = Set.of("APPROVAL", "BUDGET_EXCEEDED", "PAUSED", "PLAN_APPROVAL",
            "QUESTION", "RESULT_ACCEPTANCE", "TASK_REVIEW", "TICKET_OPEN");

    @Parameters(index = "0", paramLabel = "RUN", description = "The run's id, or latest.")
    String run;

    @Parameters(index = "1", arity = "0..1", paramLabel = "TASK", description = "The task's key or id.")
    @Nullable String task;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            String id = RunDocuments.id(server.keelson(), run);
            String path = task == null ? "/runs/" + id : "/tasks/" + taskId(server, id, task);
            if (json) {
                print(server.keelson().api().get(path + "/explain"));
            } else {
                Explanation explanation = task == null ? server.keelson().runs().explain(id)
                        : server.keelson().runs().explainTask(path.substring("/tasks/".length()));
                print(lines(explanation));
                if (explanation.tasksLeftOut() > 0) {
                    note("open tasks that are not listed: " + explanation.tasksLeftOut() + "; `" + ProgramName.current()
                            + " explain " + explanation.runId() + " TASK` explains one of them");
                }
                answers(server.keelson(), explanation).forEach(this::note);
            }
            return ExitCode.OK;
        }
    }

    private static String taskId(ServerConnection server, String run, String wanted) {
        for (Task each : server.keelson().runs().tasks(run)) {
            if (each.id().equals(wanted) || wanted.equals(each.key())) {
                return each.id();
            }
        }
        throw CliException.usage("TASK_NOT_FOUND", "run " + run + " has no task '" + wanted + "'");
    }

    /** The commands that end what only people and the world outside can end. */
    private static List<String> answers(Keelson keelson, Explanation explanation) {
        List<String> commands = new ArrayList<>();
        explanation.reasons().stream().filter(reason -> reason.code().equals("SIGNAL"))
                .flatMap(reason -> reason.on().stream()).distinct()
                .map(name -> Summary.send(name, explanation.runId(), ProgramName.current())).forEach(commands::add);
        if (explanation.reasons().stream().anyMatch(reason -> HUMAN.contains(reason.code()))) {
            commands.addAll(Summary.answers(RunDocuments.waits(keelson, keelson.runs().get(explanation.runId())),
                    ProgramName.current()));
        }
        return commands;
    }

    private static List<String> lines(Explanation explanation) {
        if (explanation.reasons().isEmpty()) {
            return List.of(explanation.state() + ": nothing blocks it");
        }
        return explanation.reasons().stream().map(reason -> reason.code() + "  " + reason.text()
                + (reason.until() == null ? "" : " (until " + reason.until() + ")")).toList();
    }
}
