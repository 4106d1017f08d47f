package io.keelson.cli;

import io.keelson.cli.view.Amounts;
import io.keelson.cli.view.Cells;
import io.keelson.cli.view.Table;
import io.keelson.client.Escalation;
import io.keelson.client.EscalationQuery;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

@Command(name = "escalations", description = "Lists the open tickets by which runs ask for a human, newest first.",
        footerHeading = "%nExamples:%n", footer = {"  keelson escalations", "  keelson escalations --run latest --all",
                "  keelson escalations --json | jq -r '.items[].id'"})
final class EscalationsCommand extends ListCommand<Escalation> {

    @Option(names = "--run", paramLabel = "RUN", description = "Only those of this run: its id, or latest.")
    @Nullable String run;

    @Option(names = "--all", description = "Answered ones, too.")
    boolean all;

    EscalationsCommand() {
        super("no tickets");
    }

    @Override
    Page<Escalation> page(Keelson keelson) {
        EscalationQuery query = (all ? EscalationQuery.all() : EscalationQuery.open()).limit(limit);
        return keelson.escalations().list(run == null ? query : query.run(RunDocuments.id(keelson, run)));
    }

    @Override
    JsonNode document(Keelson keelson) {
        return keelson.api().get("/escalations?limit=" + limit + (all ? "" : "&state=open")
                + (run == null ? "" : "&run_id=" + RunDocuments.id(keelson, run)));
    }

    @Override
    void advise(List<Escalation> tickets) {
        if (tickets.stream().anyMatch(Escalation::open)) {
            note("answer with: " + ProgramName.current() + " resolve TICKET resume|skip|fail|cancel");
        }
    }

    @Override
    Table table(List<Escalation> tickets) {
        Instant now = clock().instant();
        Table table = new Table("TICKET", "SEVERITY", "AGE", "RUN", "ANSWER", "REASON", "MESSAGE");
        for (Escalation ticket : tickets) {
            Instant opened = ticket.openedAt();
            table.row(ticket.id(), ticket.severity(),
                    opened == null ? "" : Amounts.age(Duration.between(opened, now)), Cells.clean(ticket.runName()),
                    Objects.requireNonNullElse(ticket.resolution(), ""), Cells.clean(ticket.reason()),
                    Cells.clean(ticket.message()));
        }
        return table;
    }
}
