package io.keelson.cli;

import io.keelson.client.InboxItem;
import io.keelson.client.Json;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "assign", description = "Says who is to look after what waits, and until when.",
        footerHeading = "%nExamples:%n",
        footer = {"  keelson inbox assign step_0192f0c1-7f6e-7000-8000-000000000000 ann --due 4h",
                "  keelson inbox assign step_0192f0c1-7f6e-7000-8000-000000000000      # nobody's"})
final class InboxAssignCommand extends CliCommand {

    @Parameters(index = "0", paramLabel = "ITEM", description = "The item's id, as keelson inbox shows it.")
    String item;

    @Parameters(index = "1", paramLabel = "WHO", arity = "0..1",
            description = "A principal of the workspace, @me for yourself; nobody without it.")
    @Nullable String who;

    @Option(names = "--due", paramLabel = "TIME", converter = Span.class,
            description = "When an answer is due: 2d, 4h, 30m; by the run's own rule without it.")
    @Nullable Duration due;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (Link link = link()) {
            InboxItem assigned = link.keelson().inbox().assign(item, who,
                    due == null ? null : clock().instant().plus(due));
            if (json) {
                print(Json.document(assigned));
            } else {
                print(List.of(assigned.id() + " is " + (assigned.assignee() == null ? "nobody's"
                        : Objects.requireNonNull(assigned.assignee()) + "'s")));
            }
            return ExitCode.OK;
        }
    }
}
