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
        description = "Changes what a run may cost. One that was held up as budget_exceeded goes on if that leaves room.",
        footerHeading = "%nExamples:%n", footer = "  keelson budget latest --hard-limit 5 --watch")
public final class BudgetCommand extends ActionCommand {

    @ArgGroup(exclusive = false, multiplicity = "1")
    Limits limits = new Limits();

    static final class Limits {
        @Option(names = "--hard-limit", paramLabel = "USD", description = "What all its attempts may cost together.")
        @Nullable BigDecimal hard;

        @Option(names = "--soft-limit", paramLabel = "USD", description = "From which on people are warned, once.")
        @Nullable BigDecimal soft;
    }

    @Override
    public Run act(ServerConnection server, Runs runs, String id) {
        return runs.budget(id, limits.hard, limits.soft);
    }
}
