package io.keelson.cli.inbox;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.DurationArgument;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.client.Inbox;
import io.keelson.client.InboxItem;
import io.keelson.client.Json;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "assign",
        description = "Assigns an inbox item and sets its due time. With neither, removes both, so that the run's own due time applies.",
        footerHeading = "%nExamples:%n",
        footer = {"  keelson inbox assign step_0192f0c1-7f6e-7000-8000-000000000000 ann --due 4h",
                "  keelson inbox assign step_0192f0c1-7f6e-7000-8000-000000000000 --due 2d     # due time only",
                "  keelson inbox assign step_0192f0c1-7f6e-7000-8000-000000000000      # unassign"})
final class InboxAssignCommand extends CliCommand {

    @Parameters(index = "0", paramLabel = "ITEM", description = "The item's id, as keelson inbox shows it.")
    String item;

    @Parameters(index = "1", paramLabel = "WHO", arity = "0..1",
            description = "A principal of the workspace, @me for yourself, @none to unassign; with --due alone, the assignee stays.")
    @Nullable String who;

    @Option(names = "--due", paramLabel = "TIME", converter = DurationArgument.class,
            description = "When an answer is due: 2d, 4h, 30m from now; with WHO alone, the due time stays.")
    @Nullable Duration due;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            InboxItem assigned = assign(server.keelson().inbox());
            if (json) {
                print(Json.document(assigned));
            } else {
                print(List.of(assigned.id() + " is " + (assigned.assignee() == null ? "unassigned"
                        : Objects.requireNonNull(assigned.assignee()) + "'s")));
            }
            return ExitCode.OK;
        }
    }

    private InboxItem assign(Inbox inbox) {
        Instant at = due == null ? null : clock().instant().plus(due);
        if (who == null && at != null) {
            return inbox.due(item, at);
        }
        return who != null && at == null ? inbox.assign(item, who) : inbox.assign(item, who, at);
    }
}
