package io.keelson.cli;

import io.keelson.cli.view.Amounts;
import io.keelson.cli.view.Cells;
import io.keelson.cli.view.Style;
import io.keelson.cli.view.Table;
import io.keelson.client.Json;
import io.keelson.client.Page;
import io.keelson.client.Proposal;
import io.keelson.client.ProposalQuery;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "proposals",
        description = "Lists what steps have proposed to people and nobody has answered, newest first.",
        footerHeading = "%nExamples:%n", footer = {"  keelson proposals", "  keelson proposals --run latest --all",
                "  keelson approve prop_0192f0c1-7f6e-7000-8000-000000000000"})
final class ProposalsCommand extends CliCommand {

    @Option(names = "--run", paramLabel = "RUN", description = "Only those of this run: its id, or latest.")
    @Nullable String run;

    @Option(names = "--all", description = "Answered, expired and withdrawn ones, too.")
    boolean all;

    @Option(names = "--limit", paramLabel = "N", defaultValue = "20",
            description = "At most so many; ${DEFAULT-VALUE} when not given.")
    int limit = 20;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (Link link = Link.open(settings(), Link.Work.NONE, this::news)) {
            Page<Proposal> page = link.keelson().proposals()
                    .list((all ? ProposalQuery.all() : ProposalQuery.pending()).limit(limit)
                            .run(run == null ? null : RunDocuments.id(link.keelson(), run)));
            if (json) {
                print(Json.object().put("next_cursor", page.nextCursor()).set("items", Json.document(page.items())));
                return ExitCode.OK;
            }
            print(page.items().isEmpty() ? List.of("no proposals")
                    : table(page.items(), clock().instant(), style()));
            if (page.items().stream().anyMatch(Proposal::pending)) {
                note("answer with: " + Cli.command() + " approve|reject PROPOSAL");
            }
            if (page.nextCursor() != null) {
                note("there are more: --limit");
            }
            return ExitCode.OK;
        }
    }

    private static List<String> table(List<Proposal> proposals, Instant now, Style style) {
        Table table = new Table("PROPOSAL", "STATE", "AGE", "RUN", "TITLE");
        for (Proposal each : proposals) {
            table.row("prop_" + each.id(), each.state(), Amounts.age(Duration.between(each.createdAt(), now)),
                    Cells.clean(each.runName()), Cells.clean(each.title()));
        }
        return table.lines(0, style);
    }
}
