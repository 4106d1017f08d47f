package io.keelson.cli.billing;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.WorkspaceIds;
import io.keelson.cli.view.AmountText;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
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

@Command(name = "grant", description = "Grants credits to the workspace or, for operators, to another one.",
        footerHeading = "%nExamples:%n",
        footer = {"  keelson credits grant 250 --workspace acme",
                "  keelson credits grant 250 --reason \"budget of May\"",
                "  keelson credits grant 250 --key budget-2026-05    # repeated calls grant once"})
final class CreditsGrantCommand extends CliCommand {

    @Parameters(paramLabel = "AMOUNT", description = "More than 0, at most 6 decimal places.")
    BigDecimal amount;

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record.")
    @Nullable String reason;

    @Option(names = "--key", paramLabel = "KEY",
            description = "Idempotency key: repeated calls with the same key grant once.")
    @Nullable String key;

    @Option(names = "--workspace", paramLabel = "WORKSPACE",
            description = "To another workspace, by id or name; for operators.")
    @Nullable String workspace;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            Keelson keelson = server.keelson();
            String once = Objects.requireNonNullElseGet(key, () -> UUID.randomUUID().toString());
            String other = WorkspaceIds.ofOrOwn(keelson, workspace);
            LedgerEntry entry = other == null ? keelson.credits().grant(amount, reason, once)
                    : keelson.workspaces().grant(other, amount, reason, once);
            if (json) {
                print(Json.document(entry));
            } else {
                print(List.of("granted " + AmountText.decimal(entry.amount()) + (other == null
                        ? "; available " + AmountText.decimal(keelson.credits().balance().available())
                        : " to workspace " + other)));
            }
            return ExitCode.OK;
        }
    }
}
