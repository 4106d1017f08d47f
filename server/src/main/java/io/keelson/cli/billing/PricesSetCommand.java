package io.keelson.cli.billing;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.client.Prices;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.math.BigDecimal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(name = "set",
        description = "Sets the price of a tool (per call) or of a model (per million tokens) for future charges.",
        footerHeading = "%nExamples:%n",
        footer = {"  keelson prices set model large 2.5", "  keelson prices set tool web.search 0.01"})
final class PricesSetCommand extends CliCommand {

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
            PricesCommand.show(this, kind == Kind.TOOL ? prices.setTool(name, usd) : prices.setModel(name, usd));
            return ExitCode.OK;
        }
    }
}
