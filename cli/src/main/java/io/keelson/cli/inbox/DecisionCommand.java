package io.keelson.cli.inbox;

import io.keelson.api.inbox.InboxDecision;
import io.keelson.api.inbox.InboxItem;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.Decided;
import io.keelson.cli.common.DocumentFile;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.control.ActionCommand;
import io.keelson.cli.view.PendingDecisions;
import io.keelson.cli.view.Subject;
import io.keelson.cli.view.Summary;
import io.keelson.client.Inbox;
import io.keelson.client.InboxQuery;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import io.keelson.client.Runs;
import io.keelson.client.Steps;
import io.keelson.server.base.json.Json;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A person's decision on a waiting run, or on an inbox item. */
public abstract class DecisionCommand extends ActionCommand {

    /** Kinds of items by how their ids begin. */
    private static final Map<String, String> KINDS = Map.ofEntries(Map.entry("plan", "plan_approval"),
            Map.entry("result", "result_acceptance"), Map.entry("step", "approval_step"),
            Map.entry("task", "task_review"), Map.entry("esc", "escalation"), Map.entry("budget", "budget"),
            Map.entry("prop", "proposal"), Map.entry("elic", "elicitation"), Map.entry("call", "call_approval"),
            Map.entry("ask", "question"), Map.entry("tool", "tool_change"),
            Map.entry("dead", "dead_letter"));
    private static final int ITEMS = 200;
    private static final int MAX_PAGES = 20;
    private static final Pattern INBOX = Pattern.compile("(" + String.join("|", KINDS.keySet()) + ")_.*");

    @Option(names = "--step", paramLabel = "STEP",
            description = "The approval, by its step's id or name; required when several are pending.")
    @Nullable String step;

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record.")
    @Nullable String reason;

    /** Decides the only thing that waits. */
    abstract Run decide(Runs runs, String id, @Nullable String reason);

    abstract Step decide(Steps steps, String stepId, @Nullable String reason);

    /** Decides the inbox item with this id. */
    abstract InboxDecision decide(Inbox inbox, String id, @Nullable String reason);

    @Override
    public @Nullable Run act(Keelson keelson, Runs runs, String id) {
        showSubject(keelson, runs, id);
        if (step == null && INBOX.matcher(id).matches()) {
            InboxDecision decided = inTime(keelson, id, () -> decide(keelson.inbox(), id, reason));
            String of = decided.runId();
            if (of == null && json) {
                print(io.keelson.client.Json.document(decided));
            }
            said(decided.approvals() == null ? decided.id() + " is " + decided.decision() + after(decided)
                    : decided.id() + " waits" + Votes.after(decided.approvals()));
            if (of == null) {
                return null;
            }
            Run after = runs.get(of);
            if (decided.kind().equals("budget")) {
                explainStop(runs, after);
            }
            return after;
        }
        if (step == null) {
            Run after = inTime(keelson, "run_" + id, () -> decide(runs, id, reason));
            tellVotes(keelson, after.id());
            return after;
        }
        String named = stepId(runs.steps(id), step);
        Step decided = inTime(keelson, "step_" + named,
                () -> decide(keelson.steps(), named, reason));
        if (!json) {
            note(decided.name() + " is " + decided.state());
        }
        Run after = runs.get(id);
        tellVotes(keelson, after.id());
        return after;
    }

    /** Names the people whose approvals questions of the run have, while others have to approve. */
    private void tellVotes(Keelson keelson, String run) {
        if (!json) {
            keelson.inbox().list(InboxQuery.all().run(run)).items().stream()
                    .filter(item -> item.approvals() != null && !item.approvals().votes().isEmpty())
                    .forEach(item -> note(item.id() + " waits" + Votes.after(item.approvals())));
        }
    }

    /** The effect of a decision whose question does not name it; empty for others. */
    String after(InboxDecision decided) {
        return "";
    }

    private static <T> T inTime(Keelson keelson, String item, Supplier<T> decision) {
        String subject = item.substring(item.indexOf('_') + 1);
        return Decided.inTime(decision, e -> switch (item.substring(0, item.indexOf('_'))) {
            case "step", "call", "ask" -> Decided.before(keelson, e,
                    keelson.api().get("/steps/" + subject).path("run_id").asString(), subject);
            case "task" -> Decided.before(keelson, e, keelson.tasks().get(subject).runId(), subject);
            case "esc" -> Decided.before(keelson, e, keelson.escalations().get(subject).runId(), subject);
            case "prop" -> Decided.before(keelson, e, keelson.proposals().get(subject).runId(), subject);
            case "plan", "result", "budget" -> Decided.beforeQuestion(keelson, e,
                    item.substring(0, item.indexOf('_')), subject);
            default -> Decided.before(keelson, e, subject, null);
        });
    }

    /** Whether the decision is about the pending plan as it is. */
    boolean showsPlan() {
        return true;
    }

    /** Shows the subject of the decision, below the run's name and above the answer. */
    private void showSubject(Keelson keelson, Runs runs, String id) {
        if (json) {
            return;
        }
        if (INBOX.matcher(id).matches()) {
            item(keelson.inbox(), id).ifPresent(item -> print(InboxReview.details(item, style())));
            return;
        }
        PendingDecisions pendingDecisions = RunDocuments.waits(keelson, runs.get(id));
        if (pendingDecisions.plan()) {
            if (showsPlan()) {
                print(Subject.plan(pendingDecisions.run(), style()));
            }
        } else if (!pendingDecisions.result()) {
            pendingDecisions.approvals().stream()
                    .filter(each -> step == null || each.id().equals(step) || each.name().equals(step))
                    .forEach(each -> {
                        print(List.of(Summary.question(each)));
                        print(Subject.data(each, style()));
                    });
        }
    }

    /** The item while it is open; empty also where it is behind the first thousands. */
    private static Optional<InboxItem> item(Inbox inbox, String id) {
        InboxQuery query = InboxQuery.all().kind(KINDS.get(id.substring(0, id.indexOf('_')))).limit(ITEMS);
        Page<InboxItem> page = inbox.list(query);
        for (int pages = 1; pages < MAX_PAGES && page.nextCursor() != null && !holds(page, id); pages++) {
            page = inbox.list(query.from(page.nextCursor()));
        }
        return page.items().stream().filter(item -> item.id().equals(id)).findFirst();
    }

    private static boolean holds(Page<InboxItem> page, String id) {
        return page.items().stream().anyMatch(item -> item.id().equals(id));
    }

    private static String stepId(List<Step> steps, String wanted) {
        List<Step> named = steps.stream().filter(each -> each.id().equals(wanted)
                || each.name().equals(wanted) && each.state().equals("waiting_approval")).toList();
        if (named.size() != 1) {
            throw CliException.failed(named.isEmpty() ? "STEP_NOT_FOUND" : "APPROVAL_AMBIGUOUS",
                    (named.isEmpty() ? "no pending approval named " + wanted
                            : "several pending approvals named " + wanted
                                    + "; select one by its id")
                            + "; waiting: " + waiting(steps));
        }
        return named.getFirst().id();
    }

    private static String waiting(List<Step> steps) {
        List<String> names = steps.stream().filter(each -> each.state().equals("waiting_approval"))
                .map(each -> each.name() + " (" + each.id() + ")").toList();
        return names.isEmpty() ? "none" : String.join(", ", names);
    }

    @Command(name = "approve",
            description = "Approves the pending plan, result, task output or approval step of a run. RUN may also be the id of an inbox item: then only that item is approved.",
            footer = {"  keelson approve latest --watch     # and follow the run",
                    "  keelson approve latest --plan plan.yaml",
                    "  keelson approve latest --step sign-off --reason \"figures checked\"",
                    "  keelson approve budget_0193… --hard-limit 5",
                    "  keelson approve budget_0193… --downgrade small",
                    "  keelson approve elic_0193… --content '{\"name\": \"Ada\"}'"})
    public static final class Approve extends DecisionCommand {

        @Option(names = "--plan", paramLabel = "FILE",
                description = "A file with the plan to approve instead of the pending one: tasks as in a mission, YAML or JSON; - for standard input.")
        @Nullable String plan;

        @Option(names = "--content", paramLabel = "JSON",
                description = "The answer to a question of an agent or an MCP server, as JSON by the schema that the item "
                        + "shows; or the input that replaces the one of an agent's call.")
        @Nullable String content;

        @Option(names = "--downgrade", paramLabel = "MODEL",
                description = "Model of the server for all further turns of agents in a run at its limit.")
        @Nullable String downgrade;

        @Option(names = "--hard-limit", paramLabel = "CREDITS",
                description = "New hard limit for a run at its limit, over all attempts.")
        @Nullable BigDecimal hardLimit;

        @Option(names = "--finish-current",
                description = "End a run at its limit once its running steps have completed.")
        boolean finishCurrent;

        @Override
        Run decide(Runs runs, String id, @Nullable String reason) {
            if (hardLimit != null || downgrade != null || finishCurrent) {
                throw CliException.usage("USAGE",
                        "--hard-limit, --downgrade and --finish-current need the id of an inbox item");
            }
            if (plan == null) {
                return runs.approve(id, reason);
            }
            JsonNode document = DocumentFile.read(plan, "plan", "PLAN_INVALID").document();
            Run approved = runs.approve(id, reason, document.path("plan").isObject() ? document.get("plan") : document);
            if (!json) {
                print(Subject.plan(approved, style()));
            }
            return approved;
        }

        @Override
        String after(InboxDecision decided) {
            return !decided.kind().equals("budget") || hardLimit != null || downgrade != null || finishCurrent ? ""
                    : "; the run continues with its limits as they were, and stops again where its next step does not fit: "
                            + "raise the limit with " + ProgramName.current() + " budget " + decided.runId()
                            + " --hard-limit CREDITS";
        }

        @Override
        boolean showsPlan() {
            return plan == null;
        }

        @Override
        InboxDecision decide(Inbox inbox, String id, @Nullable String reason) {
            alone();
            if (Stream.of(hardLimit != null, downgrade != null, finishCurrent).filter(given -> given).count() > 1) {
                throw CliException.usage("USAGE", "give only one of --hard-limit, --downgrade and --finish-current");
            }
            if (hardLimit != null) {
                return inbox.accept(id, hardLimit, reason);
            }
            if (downgrade != null) {
                return inbox.downgrade(id, downgrade, reason);
            }
            if (finishCurrent) {
                return inbox.finishCurrent(id, reason);
            }
            if (content == null) {
                return inbox.accept(id, reason);
            }
            JsonNode given = json(content);
            if (id.startsWith("call_") && given instanceof ObjectNode input) {
                return inbox.accept(id, input, reason);
            }
            return id.startsWith("ask_") ? inbox.answer(id, given, reason) : inbox.answer(id, given);
        }

        @Override
        Step decide(Steps steps, String stepId, @Nullable String reason) {
            alone();
            return steps.approve(stepId, reason);
        }

        private static JsonNode json(String text) {
            try {
                return Json.read(text);
            } catch (JacksonException e) {
                throw CliException.usage("USAGE", "--content is not JSON");
            }
        }

        private void alone() {
            if (plan != null) {
                throw CliException.usage("USAGE", "--plan needs the run's id and no step");
            }
        }
    }

    @Command(name = "reject",
            description = "Rejects the pending plan, result, task output or approval step of a run. The run fails, or follows its failure modes. RUN may also be the id of an inbox item: then only that item is rejected.",
            footer = {"  keelson reject latest --reason \"not yet\"",
                    "  keelson reject elic_0193… --cancel"})
    public static final class Reject extends DecisionCommand {

        @Option(names = "--cancel",
                description = "Dismiss a question of an MCP server without declining it.")
        boolean cancel;

        @Override
        Run decide(Runs runs, String id, @Nullable String reason) {
            return runs.reject(id, reason);
        }

        @Override
        InboxDecision decide(Inbox inbox, String id, @Nullable String reason) {
            return cancel ? inbox.cancel(id, reason) : inbox.reject(id, reason);
        }

        @Override
        Step decide(Steps steps, String stepId, @Nullable String reason) {
            return steps.reject(stepId, reason);
        }
    }
}
