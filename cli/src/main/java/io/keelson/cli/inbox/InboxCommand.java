package io.keelson.cli.inbox;

import io.keelson.api.inbox.InboxItem;
import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.DurationArgument;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.common.ServerConnection.Work;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.Style;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Inbox;
import io.keelson.client.InboxQuery;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "inbox", description = "Lists decisions that wait for a person, in all runs: due first, then oldest.",
        subcommands = {InboxCommand.Assign.class, InboxCommand.Withdraw.class},
        footer = {"  keelson inbox", "  keelson inbox --mine --review",
                "  keelson inbox --json | jq -r '.items[].id'",
                "  keelson approve step_0192f0c1-7f6e-7000-8000-000000000000"})
public final class InboxCommand extends ClientCommand {

    @Option(names = "--mine", description = "Show only items assigned to you.")
    boolean mine;

    @Option(names = "--assignee", paramLabel = "WHO",
            description = "Show only items assigned to WHO; @none for unassigned ones.")
    @Nullable String assignee;

    @Option(names = "--kind", paramLabel = "KIND",
            description = "Show only this kind: plan_approval, result_acceptance, approval_step, call_approval, question, task_review, "
                    + "escalation, budget, proposal, elicitation, tool_change or dead_letter.")
    @Nullable String kind;

    @Option(names = "--run", paramLabel = "RUN", description = "Show only items of this run: its id, or latest.")
    @Nullable String run;

    @Option(names = "--overdue", description = "Show only items past their due time.")
    boolean overdue;

    @Option(names = "--each",
            description = "Each ticket; otherwise tickets of a run about the same failure are one line.")
    boolean each;

    @Option(names = "--limit", paramLabel = "N", defaultValue = "50",
            description = "At most N; ${DEFAULT-VALUE} when not given.")
    int limit = 50;

    @Option(names = "--details", description = "Show the subject of each question and the effect of either answer.")
    boolean details;

    @Option(names = "--review", description = "Go through the items one by one and answer each.")
    boolean review;

    @Override
    protected Work work() {
        return review ? Work.NONE : Work.OF_RUNNING_SERVER;
    }

    @Override
    protected void run(Keelson keelson) throws IOException {
        InboxQuery query = InboxQuery.all().kind(kind).assignee(mine ? "@me" : assignee).overdue(overdue).each(each)
                .run(RunDocuments.idIfGiven(keelson, run)).limit(limit);
        Page<InboxItem> page = keelson.inbox().list(query);
        if (json) {
            print(Json.object().put("next_cursor", page.nextCursor()).set("items", Json.document(page.items())));
            return;
        }
        if (review && !page.items().isEmpty()) {
            new InboxReview(this, keelson).through(page.items());
            return;
        }
        print(page.items().isEmpty() ? List.of("nothing waits for you")
                : details ? details(page.items()) : table(page.items(), clock().instant(), style()));
        if (!page.items().isEmpty()) {
            note("answer with: " + ProgramName.current() + " approve|reject ITEM, or one by one: "
                    + ProgramName.current() + " inbox --review; --details shows the subject of each");
        }
        if (page.nextCursor() != null) {
            note("more results exist; raise --limit");
        }
    }

    private List<String> details(List<InboxItem> items) {
        return items.stream().flatMap(item -> Stream.concat(Stream.of(InboxReview.title(item)),
                InboxReview.details(item, style()).stream())).toList();
    }

    private static List<String> table(List<InboxItem> items, Instant now, Style style) {
        Table table = new Table("ITEM", "KIND", "AGE", "DUE", "WHO", "OF", "QUESTION");
        for (InboxItem item : items) {
            table.row(item.id(), item.kind(), AmountText.age(Duration.between(item.createdAt(), now)),
                    item.dueAt() == null ? "" : AmountText.when(item.dueAt(), now),
                    TerminalText.clean(item.assignee()),
                    TerminalText.clean(item.runName()),
                    TerminalText.clean(item.question()) + Votes.brief(item.approvals()));
        }
        return table.lines(style);
    }

    @Command(name = "withdraw",
            description = "Takes your approval of an inbox item back that several people have to approve, before it is decided.",
            footer = "  keelson inbox withdraw step_0192f0c1-7f6e-7000-8000-000000000000")
    static final class Withdraw extends ChangeCommand {

        @Parameters(index = "0", paramLabel = "ITEM", description = "The item's id, as keelson inbox shows it.")
        String item;

        @Override
        protected void run(Keelson keelson) {
            InboxItem left = keelson.inbox().withdraw(item);
            show(left, Votes.line(left.approvals()));
        }
    }

    @Command(name = "assign",
            description = "Assigns an inbox item and sets its due time. With neither, removes both, so that the run's own due time applies.",
            footer = {"  keelson inbox assign step_0192f0c1-7f6e-7000-8000-000000000000 ann --due 4h",
                    "  keelson inbox assign step_0192f0c1-7f6e-7000-8000-000000000000 --due 2d     # due time only",
                    "  keelson inbox assign step_0192f0c1-7f6e-7000-8000-000000000000      # unassign"})
    static final class Assign extends ChangeCommand {

        @Parameters(index = "0", paramLabel = "ITEM", description = "The item's id, as keelson inbox shows it.")
        String item;

        @Parameters(index = "1", paramLabel = "WHO", arity = "0..1",
                description = "A principal of the workspace, @me for yourself, @none to unassign; with --due alone, the assignee stays.")
        @Nullable String who;

        @Option(names = "--due", paramLabel = "TIME", converter = DurationArgument.class,
                description = "When an answer is due: 2d, 4h, 30m from now; with WHO alone, the due time stays.")
        @Nullable Duration due;

        @Override
        protected void run(Keelson keelson) {
            InboxItem assigned = assign(keelson.inbox());
            show(assigned, assigned.id() + " is " + (assigned.assignee() == null ? "unassigned"
                    : Objects.requireNonNull(assigned.assignee()) + "'s"));
        }

        private InboxItem assign(Inbox inbox) {
            Instant at = due == null ? null : clock().instant().plus(due);
            if (who == null && at != null) {
                return inbox.due(item, at);
            }
            return who != null && at == null ? inbox.assign(item, who) : inbox.assign(item, who, at);
        }
    }
}
