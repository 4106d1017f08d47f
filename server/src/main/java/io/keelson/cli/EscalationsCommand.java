package io.keelson.cli;

import io.keelson.cli.view.Amounts;
import io.keelson.cli.view.Cells;
import io.keelson.cli.view.Style;
import io.keelson.cli.view.Table;
import io.keelson.client.Escalation;
import io.keelson.client.EscalationQuery;
import io.keelson.client.Page;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "escalations", description = "Lists the open tickets by which runs ask for a human, newest first.",
        footerHeading = "%nExamples:%n", footer = {"  keelson escalations", "  keelson escalations --run latest --all",
                "  keelson escalations --json | jq -r '.items[].id'"})
final class EscalationsCommand extends CliCommand {

    @Option(names = "--run", paramLabel = "RUN", description = "Only those of this run: its id, or latest.")
    @Nullable String run;

    @Option(names = "--all", description = "Answered ones, too.")
    boolean all;

    @Option(names = "--limit", paramLabel = "N", defaultValue = "20",
            description = "At most so many; ${DEFAULT-VALUE} when not given.")
    int limit = 20;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (Link link = Link.open(settings(), Link.Work.NONE, this::news)) {
            String id = run == null ? null : RunDocuments.id(link.keelson(), run);
            if (json) {
                print(link.keelson().api().get("/escalations?limit=" + limit + (all ? "" : "&state=open")
                        + (id == null ? "" : "&run_id=" + id)));
                return ExitCode.OK;
            }
            EscalationQuery query = (all ? EscalationQuery.all() : EscalationQuery.open()).limit(limit);
            Page<Escalation> page = link.keelson().escalations().list(id == null ? query : query.run(id));
            print(page.items().isEmpty() ? List.of("no tickets") : table(page.items(), clock().instant(), style()));
            if (page.items().stream().anyMatch(Escalation::open)) {
                note("answer with: " + Cli.command() + " resolve TICKET resume|skip|fail|cancel");
            }
            if (page.nextCursor() != null) {
                note("there are more: --limit");
            }
            return ExitCode.OK;
        }
    }

    private static List<String> table(List<Escalation> tickets, Instant now, Style style) {
        Table table = new Table("TICKET", "SEVERITY", "AGE", "RUN", "ANSWER", "REASON", "MESSAGE");
        for (Escalation ticket : tickets) {
            Instant opened = ticket.openedAt();
            table.row(ticket.id(), ticket.severity(),
                    opened == null ? "" : Amounts.age(Duration.between(opened, now)), Cells.clean(ticket.runName()),
                    Objects.requireNonNullElse(ticket.resolution(), ""), Cells.clean(ticket.reason()),
                    Cells.clean(ticket.message()));
        }
        return table.lines(0, style);
    }
}
