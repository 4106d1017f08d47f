package io.keelson.cli;

import io.keelson.client.Credits;
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

@Command(name = "grant", description = "Gives the workspace credits.", footerHeading = "%nExamples:%n",
        footer = {"  keelson credits grant 250 --reason \"budget of May\"",
                "  keelson credits grant 250 --key budget-2026-05    # again and again: it is granted once"})
final class CreditsGrantCommand extends CliCommand {

    @Parameters(paramLabel = "AMOUNT", description = "More than 0, at most 6 decimal places.")
    BigDecimal amount;

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record.")
    @Nullable String reason;

    @Option(names = "--key", paramLabel = "KEY",
            description = "Whatever is granted under a key is granted once, however often this is called.")
    @Nullable String key;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (Link link = Link.open(settings(), Link.Work.NONE, this::news)) {
            Credits credits = link.keelson().credits();
            LedgerEntry entry = credits.grant(amount, reason,
                    Objects.requireNonNullElseGet(key, () -> UUID.randomUUID().toString()));
            if (json) {
                print(Json.document(entry));
            } else {
                print(List.of("granted " + CreditsCommand.shown(entry.amount()) + "; available "
                        + CreditsCommand.shown(credits.balance().available())));
            }
            return ExitCode.OK;
        }
    }
}
