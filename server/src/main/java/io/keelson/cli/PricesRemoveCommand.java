package io.keelson.cli;

import io.keelson.client.Prices;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(name = "remove",
        description = "Takes a price off the list. Steps with a tool that has no price cost what they "
                + "report; a plan that names a model without a price is refused.",
        footerHeading = "%nExamples:%n",
        footer = "  keelson prices remove model large")
final class PricesRemoveCommand extends CliCommand {

    @Parameters(index = "0", paramLabel = "KIND", description = "tool or model.")
    PricesSetCommand.Kind kind;

    @Parameters(index = "1", paramLabel = "NAME", description = "As plans name it.")
    String name;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (Link link = link()) {
            String wire = kind.name().toLowerCase(Locale.ROOT);
            Prices prices = link.keelson().prices();
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
