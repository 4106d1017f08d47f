package io.keelson.cli.inbox;

import io.keelson.cli.common.ListCommand;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
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

@Command(name = "escalations", description = "Lists the open escalation tickets of runs, newest first.",
        footerHeading = "%nExamples:%n", footer = {"  keelson escalations", "  keelson escalations --run latest --all",
                "  keelson escalations --json | jq -r '.items[].id'"})
public final class EscalationsCommand extends ListCommand<Escalation> {

    @Option(names = "--run", paramLabel = "RUN", description = "Only those of this run: its id, or latest.")
    @Nullable String run;

    @Option(names = "--all", description = "Include answered ones.")
    boolean all;

    EscalationsCommand() {
        super("no tickets");
    }

    @Override
    public Page<Escalation> page(Keelson keelson) {
        EscalationQuery query = (all ? EscalationQuery.all() : EscalationQuery.open()).limit(limit);
        return keelson.escalations().list(run == null ? query : query.run(RunDocuments.id(keelson, run)));
    }

    @Override
    public JsonNode document(Keelson keelson) {
        return keelson.api().get("/escalations?limit=" + limit + (all ? "" : "&state=open")
                + (run == null ? "" : "&run_id=" + RunDocuments.id(keelson, run)));
    }

    @Override
    public void advise(List<Escalation> tickets) {
        if (tickets.stream().anyMatch(Escalation::open)) {
            note("answer with: " + ProgramName.current() + " resolve TICKET resume|skip|fail|cancel");
        }
    }

    @Override
    public Table table(List<Escalation> tickets) {
        Instant now = clock().instant();
        Table table = new Table("TICKET", "SEVERITY", "AGE", "RUN", "ANSWER", "REASON", "MESSAGE");
        for (Escalation ticket : tickets) {
            Instant opened = ticket.openedAt();
            table.row(ticket.id(), ticket.severity(),
                    opened == null ? "" : AmountText.age(Duration.between(opened, now)),
                    TerminalText.clean(ticket.runName()),
                    Objects.requireNonNullElse(ticket.resolution(), ""), TerminalText.clean(ticket.reason()),
                    TerminalText.clean(ticket.message()));
        }
        return table;
    }
}
