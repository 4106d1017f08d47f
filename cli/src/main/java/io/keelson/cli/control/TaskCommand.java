package io.keelson.cli.control;

import io.keelson.api.run.Run;
import io.keelson.api.run.Task;
import io.keelson.cli.common.Decided;
import io.keelson.cli.common.RunDocuments;
import io.keelson.client.Keelson;
import io.keelson.client.Tasks;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "task", description = "Approves, rejects, retries, cancels or skips one task of a run.",
        footer = {
                "  keelson task approve latest/draft --watch",
                "  keelson task reject latest/draft --again --reason \"shorter, please\"",
                "  keelson task retry latest/fetch          # now, instead of after its backoff"})
public final class TaskCommand extends RunChange {

    /** Actions on a task. */
    enum Action {
        APPROVE, REJECT, RETRY, CANCEL, SKIP
    }

    @Parameters(index = "0", paramLabel = "ACTION",
            description = "approve or reject its pending output; retry to end its backoff now; cancel; skip to continue the run without it.")
    Action action;

    @Parameters(index = "1", paramLabel = "TASK", description = "The task's id, or RUN/KEY such as latest/draft.")
    String task;

    @Option(names = "--reason", paramLabel = "TEXT",
            description = "A remark for the record; with reject --again the feedback for the next attempt.")
    @Nullable String reason;

    @Option(names = "--again", description = "With reject: start another attempt instead of failing the task.")
    boolean again;

    @Option(names = "--attempt", paramLabel = "N",
            description = "With approve and reject: the expected attempt; refused if the task is in another one.")
    @Nullable Integer attempt;

    @Override
    public Run change(Keelson keelson) {
        Tasks tasks = keelson.tasks();
        String id = id(keelson);
        Task after = switch (action) {
            case APPROVE, REJECT -> review(keelson, id);
            case RETRY -> tasks.retry(id);
            case CANCEL -> tasks.cancel(id, reason);
            case SKIP -> tasks.skip(id, reason);
        };
        said(after.key() + " is " + after.state());
        return keelson.runs().get(after.runId());
    }

    private Task review(Keelson keelson, String id) {
        Tasks tasks = keelson.tasks();
        return Decided.inTime(() -> action == Action.APPROVE ? tasks.approve(id, attempt, reason)
                : again ? tasks.rejectAndRetry(id, attempt, reason) : tasks.reject(id, attempt, reason),
                e -> Decided.before(keelson, e, tasks.get(id).runId(), id));
    }

    private String id(Keelson keelson) {
        int slash = task.indexOf('/');
        if (slash < 0) {
            return task;
        }
        String run = RunDocuments.id(keelson, task.substring(0, slash));
        return RunDocuments.task(keelson, run, task.substring(slash + 1)).id();
    }
}
