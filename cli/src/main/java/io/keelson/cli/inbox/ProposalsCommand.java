package io.keelson.cli.inbox;

import io.keelson.api.inbox.Proposal;
import io.keelson.cli.common.PageCommand;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import io.keelson.client.ProposalQuery;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "proposals",
        description = "Lists proposals of steps that are not answered yet, newest first.",
        footer = {"  keelson proposals", "  keelson proposals --run latest --all",
                "  keelson approve prop_0192f0c1-7f6e-7000-8000-000000000000"})
public final class ProposalsCommand extends PageCommand<Proposal> {

    @Option(names = "--run", paramLabel = "RUN", description = "Show only proposals of this run: its id, or latest.")
    @Nullable String run;

    @Option(names = "--all", description = "Include answered, expired and withdrawn ones.")
    boolean all;

    ProposalsCommand() {
        super("no proposals", "PROPOSAL", "STATE", "AGE", "RUN", "TITLE");
    }

    @Override
    protected Page<Proposal> page(Keelson keelson) {
        return keelson.proposals().list((all ? ProposalQuery.all() : ProposalQuery.pending()).limit(limit)
                .run(RunDocuments.idIfGiven(keelson, run)));
    }

    @Override
    protected void advise(List<Proposal> proposals) {
        if (proposals.stream().anyMatch(Proposal::pending)) {
            note("answer with: " + ProgramName.current() + " approve|reject PROPOSAL");
        }
    }

    @Override
    protected List<String> row(Proposal each) {
        return List.of("prop_" + each.id(), each.state(), age(each.createdAt()), TerminalText.clean(each.runName()),
                TerminalText.clean(each.title()));
    }
}
