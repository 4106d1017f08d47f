package io.keelson.cli.billing;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.ServerConnection;
import io.keelson.client.Prices;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(name = "remove",
        description = "Removes a price from the list. Steps with a tool without a price cost what they report; a plan that names a model without a price is refused.",
        footerHeading = "%nExamples:%n",
        footer = "  keelson prices remove model large")
final class PricesRemoveCommand extends CliCommand {

    @Parameters(index = "0", paramLabel = "KIND", description = "tool or model.")
    PricesSetCommand.Kind kind;

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
            PricesCommand.show(this,
                    kind == PricesSetCommand.Kind.TOOL ? prices.removeTool(name) : prices.removeModel(name));
            return ExitCode.OK;
        }
    }
}
