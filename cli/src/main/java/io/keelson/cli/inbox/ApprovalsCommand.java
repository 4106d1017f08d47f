package io.keelson.cli.inbox;

import io.keelson.api.tenant.ApprovalRule;
import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "approvals",
        description = "Shows the workspace's rule about approvals: the number of people, and whether the submitter is excluded.",
        subcommands = ApprovalsCommand.Set.class,
        footer = {"  keelson approvals", "  keelson approvals set --people 2 --four-eyes",
                "  keelson approvals set --people 1 --no-four-eyes   # no rule"})
public final class ApprovalsCommand extends ClientCommand {

    @Override
    protected void run(Keelson keelson) {
        ApprovalRule rule = keelson.inbox().rule();
        print(() -> Json.document(rule), () -> lines(rule));
    }

    private static List<String> lines(ApprovalRule rule) {
        List<String> lines = new ArrayList<>();
        lines.add("people: " + rule.approvals() + counts(rule.approvals() != rule.requiredApprovals(),
                String.valueOf(rule.requiredApprovals())));
        lines.add("four-eyes: " + yes(rule.fourEyes())
                + counts(rule.fourEyes() != rule.requiredFourEyes(), yes(rule.requiredFourEyes())));
        if (rule.updatedBy() != null) {
            lines.add("set by: " + TerminalText.clean(rule.updatedBy()) + " at " + rule.updatedAt());
        }
        return lines;
    }

    private static String counts(boolean stricter, String required) {
        return stricter ? " (a setting of the server requires " + required + ")" : "";
    }

    private static String yes(boolean value) {
        return value ? "yes" : "no";
    }

    @Command(name = "set", description = "Sets the workspace's rule about approvals; absent options change nothing.",
            footer = {"  keelson approvals set --people 2", "  keelson approvals set --four-eyes"})
    static final class Set extends ChangeCommand {

        @Option(names = "--people", paramLabel = "NUMBER",
                description = "People who have to approve each question of new runs, 1 to 5.")
        @Nullable Integer people;

        @Option(names = "--four-eyes", negatable = true,
                description = "Whether another person than the submitter of a run has to approve.")
        @Nullable Boolean fourEyes;

        @Override
        protected void prepare() {
            if (people == null && fourEyes == null) {
                throw CliException.usage("USAGE", "--people or --four-eyes is required");
            }
        }

        @Override
        protected void run(Keelson keelson) {
            ApprovalRule rule = keelson.inbox().changeRule(people, fourEyes);
            print(() -> Json.document(rule), () -> lines(rule));
        }
    }
}
