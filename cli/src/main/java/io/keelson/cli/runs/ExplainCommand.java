package io.keelson.cli.runs;

import io.keelson.api.run.Explanation;
import io.keelson.api.run.Task;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.OneRunCommand;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.view.ErrorText;
import io.keelson.cli.view.Summary;
import io.keelson.client.Keelson;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(name = "explain",
        description = "Shows why a run or one of its tasks waits: upstream task, timer, limit, person, lease or missing worker.",
        footer = {"  keelson explain latest", "  keelson explain latest report"})
public final class ExplainCommand extends OneRunCommand {

    /** Reasons that end with an answer of a person. */
    private static final Set<String> HUMAN = Set.of("APPROVAL", "BUDGET_EXCEEDED", "PAUSED", "PLAN_APPROVAL",
            "QUESTION", "RESULT_ACCEPTANCE", "TASK_REVIEW", "TICKET_OPEN");

    @Parameters(index = "1", arity = "0..1", paramLabel = "TASK", description = "The task's key or id.")
    @Nullable String task;

    @Override
    protected void run(Keelson keelson, String id) {
        String taskId = task == null ? null : taskId(keelson, id, task);
        if (json) {
            print(keelson.api().get((taskId == null ? "/runs/" + id : "/tasks/" + taskId) + "/explain"));
            return;
        }
        Explanation explanation = taskId == null ? keelson.runs().explain(id) : keelson.runs().explainTask(taskId);
        print(lines(explanation));
        if (explanation.tasksLeftOut() > 0) {
            note("open tasks that are not listed: " + explanation.tasksLeftOut() + "; `" + ProgramName.current()
                    + " explain " + explanation.runId() + " TASK` explains one of them");
        }
        answers(keelson, explanation).forEach(this::note);
    }

    private static String taskId(Keelson keelson, String run, String wanted) {
        for (Task each : keelson.runs().tasks(run)) {
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
        boolean steps = explanation.reasons().stream().anyMatch(reason -> reason.code().equals("FAILED"));
        return explanation.reasons().stream().flatMap(reason -> {
            String text = reason.code() + "  " + reason.text()
                    + (reason.until() == null ? "" : " (until " + reason.until() + ")");
            // The message of a failed run is the message of a step, whose reason has all lines.
            return steps && reason.code().equals("ENDED") ? Stream.of(ErrorText.shortened(text))
                    : ErrorText.block(text, 0).stream();
        }).toList();
    }
}
