package io.keelson.cli.billing;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.view.AmountText;
import io.keelson.client.Balance;
import io.keelson.client.Keelson;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.util.List;
import picocli.CommandLine.Command;

@Command(name = "credits",
        description = "Shows the credits of the workspace: available, reserved by open attempts, and spent. 1 credit is 1 USD.",
        subcommands = {CreditsGrantCommand.class, CreditsAdjustCommand.class}, footerHeading = "%nExamples:%n",
        footer = {"  keelson credits", "  keelson credits grant 250 --reason \"budget of May\"",
                "  keelson credits --json | jq .available"})
public final class CreditsCommand extends CliCommand {

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            if (json) {
                print(server.keelson().api().get("/credits"));
            } else {
                print(lines(server.keelson()));
            }
            return ExitCode.OK;
        }
    }

    private static List<String> lines(Keelson keelson) {
        Balance balance = keelson.credits().balance();
        return List.of("available  " + AmountText.decimal(balance.available()),
                "reserved   " + AmountText.decimal(balance.reserved()),
                "spent      " + AmountText.decimal(balance.spent()));
    }
}
