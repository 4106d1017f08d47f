package io.keelson.cli.control;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.Prompt;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.Sleep;
import io.keelson.cli.common.Terminals;
import io.keelson.cli.view.AmountText;
import io.keelson.client.BulkJob;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import java.time.Duration;
import java.util.List;

/** Confirms a bulk job, submits it and follows it to its end. */
final class BulkConfirmation {

    private static final Duration PAUSE = Duration.ofMillis(300);

    /** Makes the job. */
    @FunctionalInterface
    interface Begin {
        BulkJob job();
    }

    private BulkConfirmation() {}

    /**
     * Asks for confirmation at the terminal, unless {@code --yes} is given.
     *
     * @param matches how many runs are meant
     * @param done as {@code cancel}
     * @throws CliException without an interactive terminal
     */
    static boolean sure(CliCommand command, long matches, String done, boolean yes) {
        if (matches == 0 || yes) {
            return matches > 0;
        }
        Boolean answer = Terminals.interactive() ? Prompt.ask(command.out(), done + " " + runs(matches) + "?") : null;
        if (answer == null) {
            throw CliException.usage("CONFIRMATION_NEEDED",
                    "this would " + done + " " + runs(matches) + "; without a terminal, --yes is required");
        }
        if (!answer) {
            command.note("nothing was changed");
        }
        return answer;
    }

    static String runs(long matches) {
        return matches >= 100_000 ? "more than 100,000 runs" : AmountText.count(matches, "run");
    }

    /** Has it done and says what became of it. */
    static int follow(CliCommand command, ServerConnection server, Begin begin) {
        Keelson keelson = server.keelson();
        BulkJob job = begin.job();
        while (!job.ended() && !server.interrupted()) {
            Sleep.of(PAUSE);
            job = keelson.bulk().get(job.id());
        }
        if (command.json) {
            command.print(Json.document(job));
        } else {
            long refused = job.refused().valueStream().mapToLong(n -> n.asLong()).sum();
            command.print(
                    List.of("bulk " + job.id() + " is " + command.style().state(job.state()) + ": " + job.changed()
                            + " changed, " + job.unchanged() + " unchanged, " + refused + " refused"
                            + (refused == 0 ? "" : " " + job.refused())));
        }
        return server.interrupted() ? ExitCode.INTERRUPTED : ExitCode.OK;
    }
}
