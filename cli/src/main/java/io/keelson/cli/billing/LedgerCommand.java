package io.keelson.cli.billing;

import io.keelson.api.money.LedgerEntry;
import io.keelson.api.money.Verification;
import io.keelson.api.money.Verification.Discrepancy;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.Style;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.LedgerQuery;
import io.keelson.client.Page;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "ledger",
        description = "Lists the credit transfers of the workspace, newest first, or the reservations, charges and refunds of one run, oldest first.",
        subcommands = LedgerCommand.Verify.class,
        footer = {"  keelson ledger", "  keelson ledger latest", "  keelson ledger --type grant --limit 100",
                "  keelson ledger --csv > ledger.csv     # all of it, for a spreadsheet"})
public final class LedgerCommand extends ClientCommand {

    @Parameters(paramLabel = "RUN", arity = "0..1", description = "Show only entries of this run: its id, or latest.")
    @Nullable String run;

    @Option(names = "--type", paramLabel = "TYPE",
            description = "Show only this type: grant, reserve, charge, refund or adjustment; not with a run.")
    @Nullable String type;

    @Option(names = "--csv", description = "Print all matching entries as CSV, oldest first.")
    boolean csv;

    @Option(names = "--limit", paramLabel = "N", defaultValue = "20",
            description = "At most N; ${DEFAULT-VALUE} when not given; not with a run or --csv.")
    int limit = 20;

    @Override
    protected void prepare() {
        if (run != null && type != null) {
            throw new ParameterException(spec.commandLine(), "--type cannot be combined with a run");
        }
    }

    @Override
    protected void run(Keelson keelson) throws IOException {
        String id = RunDocuments.idIfGiven(keelson, run);
        LedgerQuery query = LedgerQuery.all().type(type);
        if (csv) {
            copy(id == null ? keelson.ledger().csv(query) : keelson.ledger().csvOfRun(id));
        } else {
            show(id == null ? keelson.ledger().list(query.limit(limit))
                    : new Page<>(keelson.ledger().ofRun(id), null));
        }
    }

    private void copy(InputStream content) throws IOException {
        try (Reader text = new InputStreamReader(content, StandardCharsets.UTF_8)) {
            text.transferTo(out());
        }
        out().flush();
    }

    private void show(Page<LedgerEntry> page) {
        if (json) {
            ObjectNode document = Json.object();
            document.set("items", Json.document(page.items()));
            print(document.put("next_cursor", page.nextCursor()));
            return;
        }
        print(page.items().isEmpty() ? List.of("no entries") : table(page.items(), style()));
        if (page.nextCursor() != null) {
            note("more results exist; raise --limit, or use --csv for all");
        }
    }

    private static List<String> table(List<LedgerEntry> entries, Style style) {
        Table table =
                new Table("ENTRY", "TIME", "TYPE", "AMOUNT", "FROM", "TO", "RUN", "WHO", "PRICE VERSION", "PURPOSE");
        for (LedgerEntry entry : entries) {
            table.row(Long.toString(entry.id()), Objects.toString(entry.createdAt(), ""), entry.transactionType(),
                    AmountText.decimal(entry.amount()), entry.debitAccount(), entry.creditAccount(),
                    Objects.requireNonNullElse(entry.runId(), ""),
                    TerminalText.clean(Objects.requireNonNullElse(entry.actorId(), entry.actorType())),
                    entry.priceVersion() == null ? "" : entry.priceVersion().toString(),
                    TerminalText.clean(whatFor(entry)));
        }
        return table.lines(style);
    }

    /** The purpose of the charge, or the reason given for the entry. */
    private static String whatFor(LedgerEntry entry) {
        if (entry.tool() == null) {
            return Objects.requireNonNullElse(entry.reason(), "");
        }
        return entry.tool() + (entry.model() == null ? "" : " with " + entry.model())
                + (entry.tokens() == null || entry.tokens() == 0 ? ""
                        : ", " + AmountText.count(entry.tokens(), "token"));
    }

    @Command(name = "verify",
            description = "Recomputes from the ledger alone all reservations, charges and refunds of attempts, the rounded costs of runs, all charges of steps and all account balances. On the first difference prints it and ends with 1.",
            footer = {"  keelson ledger verify", "  keelson ledger verify --all --json"})
    static final class Verify extends ClientCommand {

        @Option(names = "--all", description = "Verify all workspaces; requires a key with the scope operator.")
        boolean all;

        @Override
        protected void run(Keelson keelson) {
            Verification found = all ? keelson.ledger().verifyAll() : keelson.ledger().verify();
            show(found, inWords(found));
            exitCode(found.ok() ? ExitCode.OK : ExitCode.FAILED);
        }

        private static String inWords(Verification found) {
            Discrepancy wrong = found.discrepancy();
            return wrong != null ? "wrong: " + wrong.message()
                    : "right: " + AmountText.count(found.entries(), "entry", "entries") + ", "
                            + AmountText.count(found.attempts(), "attempt") + ", "
                            + AmountText.count(found.workspaces(), "workspace");
        }
    }
}
