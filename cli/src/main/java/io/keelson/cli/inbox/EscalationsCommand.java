package io.keelson.cli.inbox;

import io.keelson.api.inbox.Escalation;
import io.keelson.api.run.Run;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.Decided;
import io.keelson.cli.common.PageCommand;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.control.RunChange;
import io.keelson.cli.view.Summary;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.EscalationQuery;
import io.keelson.client.Escalations;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import io.keelson.client.Resolution;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(name = "escalations", description = "Lists the open escalation tickets of runs, newest first.",
        footer = {"  keelson escalations", "  keelson escalations --run latest --all",
                "  keelson escalations --json | jq -r '.items[].id'"})
public final class EscalationsCommand extends PageCommand<Escalation> {

    @Option(names = "--run", paramLabel = "RUN", description = "Show only tickets of this run: its id, or latest.")
    @Nullable String run;

    @Option(names = "--all", description = "Include answered ones.")
    boolean all;

    EscalationsCommand() {
        super("no tickets", "TICKET", "SEVERITY", "AGE", "RUN", "ANSWER", "REASON", "MESSAGE");
    }

    @Override
    protected Page<Escalation> page(Keelson keelson) {
        EscalationQuery query = (all ? EscalationQuery.all() : EscalationQuery.open()).limit(limit);
        return keelson.escalations().list(run == null ? query : query.run(RunDocuments.id(keelson, run)));
    }

    @Override
    protected JsonNode document(Keelson keelson) {
        return keelson.api().get("/escalations?limit=" + limit + (all ? "" : "&state=open")
                + (run == null ? "" : "&run_id=" + RunDocuments.id(keelson, run)));
    }

    @Override
    protected void advise(List<Escalation> tickets) {
        if (tickets.stream().anyMatch(Escalation::open)) {
            note("answer with: " + ProgramName.current() + " resolve TICKET " + Summary.answers(tickets));
        }
    }

    @Override
    protected List<String> row(Escalation ticket) {
        return List.of(ticket.id(), ticket.severity(), age(ticket.openedAt()), TerminalText.clean(ticket.runName()),
                Objects.requireNonNullElse(ticket.resolution(), ""), TerminalText.clean(ticket.reason()),
                TerminalText.clean(ticket.message()));
    }

    @Command(name = "resolve",
            description = "Answers an escalation ticket; the run continues when its last ticket is answered.",
            footer = {"  keelson resolve latest resume --watch      # and follow the run",
                    "  keelson resolve latest skip --reason \"not needed this week\""})
    public static final class Resolve extends RunChange {

        @Parameters(index = "0", paramLabel = "TICKET",
                description = "The ticket's id, or latest for the newest open one.")
        String ticket;

        @Parameters(index = "1", paramLabel = "ANSWER",
                description = "resume retries the failed work, or approves the new plan; skip continues without it; done tells of an undo that you have done it by other means; fail and cancel end the run.")
        Resolution answer;

        @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record.")
        @Nullable String reason;

        @Option(names = "--alike",
                description = "Answer all open tickets of the run about the same failure, too: same tool, system and code.")
        boolean alike;

        @Override
        public Run change(Keelson keelson) {
            Escalations escalations = keelson.escalations();
            Escalation resolved = resolve(keelson, id(escalations));
            said("ticket " + resolved.id() + ": " + resolved.resolution());
            return keelson.runs().get(resolved.runId());
        }

        private Escalation resolve(Keelson keelson, String id) {
            Escalations escalations = keelson.escalations();
            return Decided.inTime(() -> alike ? escalations.resolveAlike(id, answer, reason)
                    : escalations.resolve(id, answer, reason),
                    e -> Decided.before(keelson, e, escalations.get(id).runId(), id));
        }

        private String id(Escalations escalations) {
            if (!ticket.equals("latest")) {
                return ticket;
            }
            List<Escalation> newest = escalations.list(EscalationQuery.open().limit(1)).items();
            if (newest.isEmpty()) {
                throw CliException.failed("ESCALATION_NOT_FOUND", "no ticket is open");
            }
            return newest.getFirst().id();
        }
    }
}
