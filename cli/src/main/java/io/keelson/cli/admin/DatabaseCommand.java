package io.keelson.cli.admin;

import io.keelson.api.tenant.DatabaseLoss;
import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.ListCommand;
import io.keelson.cli.view.AmountText;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "database",
        description = "Lists the times that the database went back: it no longer had commits that a server knew, such as after a failover to a standby without them. For operators.",
        subcommands = DatabaseCommand.Accept.class, footer = {"  keelson database", "  keelson database accept"})
public final class DatabaseCommand extends ListCommand<DatabaseLoss> {

    public DatabaseCommand() {
        super("the database has not gone back", "FOUND", "FIRST EVENT GONE", "AT", "COMMITS", "READ AFTER", "ACCEPTED");
    }

    @Override
    protected List<DatabaseLoss> items(Keelson keelson) {
        return keelson.databaseLosses();
    }

    @Override
    protected List<String> row(DatabaseLoss loss) {
        return List.of(time(loss.foundAt()), loss.seq() + " of run " + loss.runId(), time(loss.eventAt()),
                Integer.toString(loss.commits()), Long.toString(loss.readAfter()), time(loss.acceptedAt()));
    }

    private static String time(@Nullable Instant time) {
        return time == null ? "no" : time.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    @Command(name = "accept",
            description = "Has all servers continue with the database as it is, without the commits that it lost. For operators.",
            footer = "  keelson database accept")
    static final class Accept extends ChangeCommand {

        @Option(names = "--yes", description = "Do not ask.")
        boolean yes;

        @Override
        protected void run(Keelson keelson) {
            List<DatabaseLoss> open =
                    keelson.databaseLosses().stream().filter(loss -> loss.acceptedAt() == null).toList();
            String lost = AmountText.count(open.stream().mapToInt(DatabaseLoss::commits).sum(), "known commit");
            if (!open.isEmpty() && !confirm(yes, "Continue without " + lost,
                    "the servers would continue without " + lost)) {
                return;
            }
            List<DatabaseLoss> accepted = keelson.acceptDatabase();
            print(() -> Json.of(Map.of("accepted", Json.document(accepted))),
                    () -> List.of(accepted.isEmpty() ? "there is nothing to accept"
                            : "accepted; the servers continue within a few seconds. Readers of the feed begin again after event "
                                    + accepted.stream().mapToLong(DatabaseLoss::readAfter).min().orElse(0)));
        }
    }
}
