package io.keelson.cli.billing;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.Style;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Json;
import io.keelson.client.Price;
import io.keelson.client.PriceList;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "prices",
        description = "Lists the prices of this installation in USD: of a tool per call, of a model per million tokens. The cost that a step reports overrides any price.",
        subcommands = {PricesSetCommand.class, PricesRemoveCommand.class}, footerHeading = "%nExamples:%n",
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
}
