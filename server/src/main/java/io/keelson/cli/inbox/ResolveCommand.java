package io.keelson.cli.inbox;

import io.keelson.cli.common.CliException;
import io.keelson.cli.common.Decided;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.control.RunChange;
import io.keelson.client.Escalation;
import io.keelson.client.EscalationQuery;
import io.keelson.client.Escalations;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.Resolution;
import io.keelson.client.Run;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "resolve",
        description = "Answers an escalation ticket; the run continues when its last ticket is answered.",
        footerHeading = "%nExamples:%n", footer = {"  keelson resolve latest resume --watch      # and follow the run",
                "  keelson resolve latest skip --reason \"not needed this week\""})
public final class ResolveCommand extends RunChange {

    private static final int CONFLICT = 409;

    @Parameters(index = "0", paramLabel = "TICKET", description = "The ticket's id, or latest for the newest open one.")
    String ticket;

    @Parameters(index = "1", paramLabel = "ANSWER",
            description = "resume retries the failed work, or approves the new plan; skip continues without it; fail and cancel end the run.")
    Resolution answer;

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record.")
    @Nullable String reason;

    @Override
    public Run change(ServerConnection server) {
        Escalations escalations = server.keelson().escalations();
        Escalation resolved = resolve(server.keelson(), id(escalations));
        said("ticket " + resolved.id() + ": " + resolved.resolution());
        return server.keelson().runs().get(resolved.runId());
    }

    /** A late answer fails with the earlier one in its message. */
    private Escalation resolve(Keelson keelson, String id) {
        try {
            return keelson.escalations().resolve(id, answer, reason);
        } catch (KeelsonException e) {
            throw e.status() == CONFLICT ? Decided.before(keelson, e, keelson.escalations().get(id).runId(), id) : e;
        }
    }

    private String id(Escalations escalations) {
        if (!ticket.equals("latest")) {
            return ticket;
        }
        List<Escalation> newest = escalations.list(EscalationQuery.open().limit(1)).items();
        if (newest.isEmpty()) {
            throw CliException.failed("ESCALATION_NOT_FOUND", "no ticket is open", null);
        }
        return newest.getFirst().id();
    }
}
