package io.keelson.cli.billing;

import io.keelson.api.money.Balance;
import io.keelson.api.money.LedgerEntry;
import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.WorkspaceIds;
import io.keelson.cli.view.AmountText;
import io.keelson.client.Account;
import io.keelson.client.Keelson;
import java.math.BigDecimal;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "credits",
        description = "Shows the credits of the workspace: available, reserved by open attempts, and spent. 1 credit is 1 USD.",
        subcommands = {CreditsCommand.Grant.class, CreditsCommand.Adjust.class},
        footer = {"  keelson credits", "  keelson credits grant 250 --reason \"budget of May\"",
                "  keelson credits --json | jq .available"})
public final class CreditsCommand extends ClientCommand {

    @Override
    protected void run(Keelson keelson) {
        print(() -> keelson.api().get("/credits"), () -> lines(keelson));
    }

    private static List<String> lines(Keelson keelson) {
        Balance balance = keelson.credits().balance();
        return List.of("available  " + AmountText.decimal(balance.available()),
                "reserved   " + AmountText.decimal(balance.reserved()),
                "spent      " + AmountText.decimal(balance.spent()));
    }

    @Command(name = "grant", description = "Grants credits to the workspace or, for operators, to another one.",
            footer = {"  keelson credits grant 250 --workspace acme",
                    "  keelson credits grant 250 --reason \"budget of May\"",
                    "  keelson credits grant 250 --key budget-2026-05    # repeated calls grant once"})
    static final class Grant extends ChangeCommand {

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
        protected void run(Keelson keelson) {
            String once = Objects.requireNonNullElseGet(key, () -> UUID.randomUUID().toString());
            String other = WorkspaceIds.ofOrOwn(keelson, workspace);
            LedgerEntry entry = other == null ? keelson.credits().grant(amount, reason, once)
                    : keelson.workspaces().grant(other, amount, reason, once);
            show(entry, any -> List.of("granted " + AmountText.decimal(entry.amount()) + (other == null
                    ? "; available " + AmountText.decimal(keelson.credits().balance().available())
                    : " to workspace " + other)));
        }
    }

    @Command(name = "adjust",
            description = "Moves an amount from one account to another to correct an error. Reserved amounts belong to open attempts and cannot be corrected.",
            footer = {"  keelson credits adjust 3.5 --from spent --to available --reason \"charged for an outage\"",
                    "  keelson credits adjust 100 --from available --to funding --reason \"granted by mistake\""})
    static final class Adjust extends ChangeCommand {

        @Parameters(paramLabel = "AMOUNT", description = "More than 0, at most 6 decimal places.")
        BigDecimal amount;

        @Option(names = "--from", required = true, paramLabel = "ACCOUNT", description = "funding, available or spent.")
        Account from = Account.FUNDING;

        @Option(names = "--to", required = true, paramLabel = "ACCOUNT",
                description = "A different one of these accounts.")
        Account to = Account.FUNDING;

        @Option(names = "--reason", required = true, paramLabel = "TEXT", description = "Why, for the record.")
        String reason = "";

        @Option(names = "--key", paramLabel = "KEY",
                description = "Idempotency key: repeated calls with the same key correct once.")
        @Nullable String key;

        @Override
        protected void run(Keelson keelson) {
            LedgerEntry entry = keelson.credits().adjust(from, to, amount, reason,
                    Objects.requireNonNullElseGet(key, () -> UUID.randomUUID().toString()));
            show(entry, "moved " + AmountText.decimal(entry.amount()) + " from " + entry.debitAccount() + " to "
                    + entry.creditAccount());
        }
    }
}
