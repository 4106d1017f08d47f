package io.keelson.cli.control;

import io.keelson.cli.common.ServerConnection;
import io.keelson.client.Run;
import io.keelson.client.Runs;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "budget",
        description = "Changes the cost limits of a run. A run in budget_exceeded continues if the new limit allows it.",
        footerHeading = "%nExamples:%n", footer = "  keelson budget latest --hard-limit 5 --watch")
public final class BudgetCommand extends ActionCommand {

    @ArgGroup(exclusive = false, multiplicity = "1")
    Limits limits = new Limits();

    static final class Limits {
        @Option(names = "--hard-limit", paramLabel = "USD", description = "Limit of the cost of all attempts together.")
        @Nullable BigDecimal hard;

        @Option(names = "--soft-limit", paramLabel = "USD", description = "Cost at which one warning is sent.")
        @Nullable BigDecimal soft;
    }

    @Override
    public Run act(ServerConnection server, Runs runs, String id) {
        return runs.budget(id, limits.hard, limits.soft);
    }
}
