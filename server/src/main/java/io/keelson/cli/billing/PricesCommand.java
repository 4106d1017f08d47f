package io.keelson.cli.billing;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.Style;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Json;
import io.keelson.client.Price;
import io.keelson.client.PriceList;
import io.keelson.client.Prices;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "prices",
        description = "Lists the prices of this installation in USD: of a tool per call, of a model per million tokens. The cost that a step reports overrides any price.",
        subcommands = {PricesCommand.Set.class, PricesCommand.Remove.class}, footerHeading = "%nExamples:%n",
        footer = {"  keelson prices", "  keelson prices set model large 2.5",
                "  keelson prices --at 3      # the list that an entry of the ledger names"})
public final class PricesCommand extends CliCommand {

    @Option(names = "--at", paramLabel = "VERSION", description = "The list at that version.")
    @Nullable Integer version;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            show(this, version == null ? server.keelson().prices().current() : server.keelson().prices().at(version));
            return ExitCode.OK;
        }
    }

    static void show(CliCommand command, PriceList list) {
        if (command.json) {
            command.print(Json.document(list));
        } else {
            command.print(list.items().isEmpty() ? List.of("no prices") : table(list, command.style()));
        }
    }

    private static List<String> table(PriceList list, Style style) {
        Table table = new Table("KIND", "NAME", "USD", "FOR", "SINCE VERSION");
        for (Price price : list.items()) {
            boolean call = price.usdPerCall() != null;
            table.row(price.kind(), TerminalText.clean(price.name()), usd(price), call ? "a call" : "1,000,000 tokens",
                    Integer.toString(price.version()));
        }
        return table.lines(style);
    }

    private static String usd(Price price) {
        if (price.usdPerCall() != null) {
            return AmountText.decimal(price.usdPerCall());
        }
        return price.usdPerMillionTokens() == null ? "" : AmountText.decimal(price.usdPerMillionTokens());
    }

    @Command(name = "set",
            description = "Sets the price of a tool (per call) or of a model (per million tokens) for future charges.",
            footerHeading = "%nExamples:%n",
            footer = {"  keelson prices set model large 2.5", "  keelson prices set tool web.search 0.01"})
    static final class Set extends CliCommand {

        /** What has a price. */
        enum Kind {
            TOOL, MODEL
        }

        @Parameters(index = "0", paramLabel = "KIND", description = "tool or model.")
        Kind kind;

        @Parameters(index = "1", paramLabel = "NAME", description = "As plans name it.")
        String name;

        @Parameters(index = "2", paramLabel = "USD", description = "From 0, at most 6 decimal places.")
        BigDecimal usd;

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            try (ServerConnection server = link()) {
                Prices prices = server.keelson().prices();
                show(this, kind == Kind.TOOL ? prices.setTool(name, usd) : prices.setModel(name, usd));
                return ExitCode.OK;
            }
        }
    }

    @Command(name = "remove",
            description = "Removes a price from the list. Steps with a tool without a price cost what they report; a plan that names a model without a price is refused.",
            footerHeading = "%nExamples:%n",
            footer = "  keelson prices remove model large")
    static final class Remove extends CliCommand {

        @Parameters(index = "0", paramLabel = "KIND", description = "tool or model.")
        Set.Kind kind;

        @Parameters(index = "1", paramLabel = "NAME", description = "As plans name it.")
        String name;

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            try (ServerConnection server = link()) {
                String wire = kind.name().toLowerCase(Locale.ROOT);
                Prices prices = server.keelson().prices();
                if (prices.current().items().stream()
                        .noneMatch(price -> price.kind().equals(wire) && price.name().equals(name))) {
                    throw CliException.failed("PRICE_NOT_FOUND", "the " + wire + " '" + name
                            + "' has no price; `" + ProgramName.current() + " prices` lists them", null);
                }
                show(this,
                        kind == Set.Kind.TOOL ? prices.removeTool(name) : prices.removeModel(name));
                return ExitCode.OK;
            }
        }
    }
}
