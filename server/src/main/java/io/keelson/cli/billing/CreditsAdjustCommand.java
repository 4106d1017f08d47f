package io.keelson.cli.billing;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.view.AmountText;
import io.keelson.client.Account;
import io.keelson.client.Json;
import io.keelson.client.LedgerEntry;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.math.BigDecimal;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "adjust",
        description = "Moves an amount from one account to another to correct an error. Reserved amounts belong to open attempts and cannot be corrected.",
        footerHeading = "%nExamples:%n",
        footer = {"  keelson credits adjust 3.5 --from spent --to available --reason \"charged for an outage\"",
                "  keelson credits adjust 100 --from available --to funding --reason \"granted by mistake\""})
final class CreditsAdjustCommand extends CliCommand {

    @Parameters(paramLabel = "AMOUNT", description = "More than 0, at most 6 decimal places.")
    BigDecimal amount;

    @Option(names = "--from", required = true, paramLabel = "ACCOUNT", description = "funding, available or spent.")
    Account from = Account.FUNDING;

    @Option(names = "--to", required = true, paramLabel = "ACCOUNT", description = "A different one of these accounts.")
    Account to = Account.FUNDING;

    @Option(names = "--reason", required = true, paramLabel = "TEXT", description = "Why, for the record.")
    String reason = "";

    @Option(names = "--key", paramLabel = "KEY",
            description = "Idempotency key: repeated calls with the same key correct once.")
    @Nullable String key;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            LedgerEntry entry = server.keelson().credits().adjust(from, to, amount, reason,
                    Objects.requireNonNullElseGet(key, () -> UUID.randomUUID().toString()));
            if (json) {
                print(Json.document(entry));
            } else {
                print(List.of("moved " + AmountText.decimal(entry.amount()) + " from " + entry.debitAccount() + " to "
                        + entry.creditAccount()));
            }
            return ExitCode.OK;
        }
    }
}
