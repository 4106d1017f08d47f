package io.keelson.cli.billing;

import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Keelson;
import io.keelson.client.Usage;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "usage",
        description = "Sums up the charges of the workspace, by default of the last 30 days. Days are in UTC.",
        footer = {"  keelson usage", "  keelson usage --by model", "  keelson usage --by purpose --run latest",
                "  keelson usage --by tool --from 2026-01-01 --to 2026-02-01"})
public final class UsageCommand extends ClientCommand {

    private static final Map<Usage.By, String> UNNAMED = Map.of(Usage.By.AGENT, "default agent (plain steps)",
            Usage.By.MODEL, "no model", Usage.By.TOOL, "no tool", Usage.By.RECIPE, "no recipe");
    /** The agent of planning and hooks. */
    private static final String ENGINE = ".engine";

    @Option(names = "--by", paramLabel = "WHAT", defaultValue = "day",
            description = "day, hour, agent, model, tool, purpose, run, task, recipe or schedule; ${DEFAULT-VALUE} when not given.")
    Usage.By by = Usage.By.DAY;

    @Option(names = "--run", paramLabel = "RUN", description = "Show only the use of this run: its id, or latest.")
    @Nullable String run;

    @Option(names = "--from", paramLabel = "DAY", description = "The first day, such as 2026-01-31.")
    @Nullable LocalDate from;

    @Option(names = "--to", paramLabel = "DAY", description = "The day after the last one.")
    @Nullable LocalDate to;

    @Override
    protected void run(Keelson keelson) {
        Usage usage = keelson.credits().usage(by, RunDocuments.idIfGiven(keelson, run), time(from), time(to));
        show(usage, this::table);
        if (!json && !usage.complete()) {
            note("more results exist; the total covers them");
        }
    }

    private List<String> table(Usage usage) {
        Table table = new Table(by.name(), "CREDITS", "TOKENS", "CHARGES", "RUNS");
        usage.items().forEach(line -> row(table, name(line), line));
        row(table, "total", usage.total());
        return table.lines(style());
    }

    /** As the dashboard names it. */
    private String name(Usage.Line line) {
        String name = line.name();
        if (name == null) {
            return UNNAMED.getOrDefault(by, "none");
        }
        return by == Usage.By.AGENT && name.equals(ENGINE) ? "planning and hooks" : TerminalText.clean(name);
    }

    private static void row(Table table, String name, Usage.Line line) {
        table.row(name, AmountText.decimal(line.credits()), AmountText.count(line.tokens()),
                AmountText.count(line.charges()), AmountText.count(line.runs()));
    }

    private static @Nullable Instant time(@Nullable LocalDate day) {
        return day == null ? null : day.atStartOfDay(ZoneOffset.UTC).toInstant();
    }
}
