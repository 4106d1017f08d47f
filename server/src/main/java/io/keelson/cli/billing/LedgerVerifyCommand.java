package io.keelson.cli.billing;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.view.AmountText;
import io.keelson.client.Json;
import io.keelson.client.Verification;
import io.keelson.client.Verification.Discrepancy;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "verify",
        description = "Recomputes from the ledger alone all reservations, charges and refunds of attempts, all charges of steps and all account balances. On the first difference prints it and ends with 1.",
        footerHeading = "%nExamples:%n", footer = {"  keelson ledger verify", "  keelson ledger verify --all --json"})
final class LedgerVerifyCommand extends CliCommand {

    @Option(names = "--all", description = "Verify all workspaces; requires a key with the scope operator.")
    boolean all;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            Verification found = all ? server.keelson().ledger().verifyAll() : server.keelson().ledger().verify();
            if (json) {
                print(Json.document(found));
            } else {
                print(List.of(inWords(found)));
            }
            return found.ok() ? ExitCode.OK : ExitCode.FAILED;
        }
    }

    private static String inWords(Verification found) {
        Discrepancy wrong = found.discrepancy();
        return wrong != null ? "wrong: " + wrong.message()
                : "right: " + AmountText.count(found.entries(), "entry", "entries") + ", "
                        + AmountText.count(found.attempts(), "attempt") + ", "
                        + AmountText.count(found.workspaces(), "workspace");
    }
}
