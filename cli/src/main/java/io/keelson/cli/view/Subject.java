package io.keelson.cli.view;

import io.keelson.api.inbox.InboxItem;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/** The subject of a decision: a plan, or the data of an approval. */
public final class Subject {

    private static final int MAX_TASKS = 30;
    private static final int MAX_LINES = 30;

    private Subject() {}

    public static List<String> plan(Run run, Style style) {
        return plan(run.plan(), size(run), style);
    }

    /** Number of tasks of a run's plan, without tasks of its planner and hooks. */
    public static int size(Run run) {
        return run.plan().path("tasks").size();
    }

    /**
     * The reasoning, the estimate, and a line for each task.
     *
     * @param plan as the API shows it; of an inbox item with its first tasks only
     * @param count of all its tasks
     */
    public static List<String> plan(JsonNode plan, int count, Style style) {
        return plan(plan, count, MissingNode.getInstance(), style);
    }

    /** @param estimated credits, by the server; a missing or null node to use the plan's own estimate */
    private static List<String> plan(JsonNode plan, int count, JsonNode estimated, Style style) {
        List<String> lines = new ArrayList<>();
        String reasoning = TerminalText.text(plan, "reasoning");
        if (!reasoning.isEmpty()) {
            lines.add("  " + reasoning);
        }
        BigDecimal estimate = estimated.isNumber() ? estimated.decimalValue()
                : plan.path("total_estimated_cost").isNumber()
                        ? plan.path("total_estimated_cost").decimalValue()
                        : plan.path("tasks").valueStream().map(task -> task.path("estimated_cost"))
                                .filter(JsonNode::isNumber).map(JsonNode::decimalValue)
                                .reduce(BigDecimal.ZERO, BigDecimal::add);
        if (estimate.signum() > 0) {
            lines.add("  estimated cost: " + estimate.stripTrailingZeros().toPlainString() + " credits");
        }
        Table table = new Table("  TASK", "AGENT", "AFTER", "USES", "TITLE");
        List<JsonNode> tasks = plan.path("tasks").valueStream().limit(MAX_TASKS).toList();
        for (JsonNode task : tasks) {
            String id = TerminalText.text(task, task.has("temp_id") ? "temp_id" : "id");
            table.row("  " + id, TerminalText.text(task.path("suggested_agent"), "agent_name"),
                    list(texts(task.path("depends_on"))), list(tools(task)),
                    task.has("title") ? TerminalText.text(task, "title") : id);
        }
        if (!tasks.isEmpty()) {
            lines.addAll(table.lines(style));
        }
        if (count > tasks.size()) {
            lines.add(style.dim("  and " + AmountText.count((long) count - tasks.size(), "more task")));
        }
        return lines;
    }

    /** The subject of an inbox item. */
    public static List<String> item(InboxItem item, Style style) {
        JsonNode data = item.data() == null ? MissingNode.getInstance() : item.data();
        int count = data.path("task_count").asInt(0);
        return switch (item.kind()) {
            case "plan_approval" -> Stream.concat(earlier(data),
                    plan(data.path("plan"), count, data.path("estimated_cost"), style).stream()).toList();
            case "escalation" -> data.has("changes") ? newPlan(data, count, style) : data(data, style);
            case "result_acceptance", "task_review" -> data instanceof ObjectNode object ? checked(object, style)
                    : data(data, style);
            default -> data(data, style);
        };
    }

    /** An output or a result, with a line for each check of it and of earlier outputs. */
    private static List<String> checked(ObjectNode data, Style style) {
        ObjectNode rest = data.deepCopy();
        rest.remove(List.of("verified", "checks", "results", "earlier"));
        List<String> lines = new ArrayList<>(data(rest, style));
        earlier(data).forEach(lines::add);
        data.path("checks").forEach(check -> lines.add(check("", check)));
        data.path("verified").forEach(task -> task.path("checks")
                .forEach(check -> lines.add(check(TerminalText.text(task, "task") + ", ", check))));
        return lines;
    }

    /** A line for each attempt of the run before this one. */
    private static Stream<String> earlier(JsonNode data) {
        return data.path("earlier").valueStream()
                .map(each -> "  attempt " + each.path("attempt").asInt() + " of the run: "
                        + TerminalText.text(each, "message"));
    }

    private static String check(String of, JsonNode check) {
        String feedback = TerminalText.text(check, "feedback");
        return "  " + of + "attempt " + check.path("attempt").asInt() + ": " + TerminalText.text(check, "check") + " "
                + TerminalText.text(check, "verdict")
                + (check.path("score").isNumber() ? ", score " + AmountText.decimal(check.path("score").decimalValue())
                        : "")
                + (feedback.isEmpty() ? "" : ": " + feedback);
    }

    /** The failed tasks, the proposed plan, and its changes to the old one. */
    private static List<String> newPlan(JsonNode data, int count, Style style) {
        List<String> lines = new ArrayList<>();
        lines.add("  reason: " + TerminalText.text(data, "reason"));
        data.path("failed").forEach(task -> lines.add("  failed: " + TerminalText.text(task, "task") + ": "
                + TerminalText.text(task, "message") + " (" + TerminalText.text(task, "error_code") + ")"));
        lines.addAll(plan(data.path("plan"), count, data.path("estimated_cost"), style));
        data.path("changes").properties().stream().filter(change -> !change.getValue().isEmpty())
                .forEach(change -> lines.add("  " + change.getKey() + ": " + list(texts(change.getValue()))));
        return lines;
    }

    /** The input of an approval besides its question. */
    public static List<String> data(Step approval, Style style) {
        return data(approval.input(), style);
    }

    /** A line for each member with a value, except the question; for other values their text. */
    public static List<String> data(JsonNode data, Style style) {
        List<String> all = data.isObject()
                ? data.properties().stream()
                        .filter(member -> !member.getKey().equals("question") && !member.getValue().isNull())
                        .flatMap(member -> member(member.getKey(), member.getValue()).stream()).toList()
                : data.isNull() || data.isMissingNode() ? List.of() : lines(data);
        List<String> shown = new ArrayList<>(all.subList(0, Math.min(MAX_LINES, all.size())));
        shown.replaceAll(line -> "  " + line);
        if (all.size() > shown.size()) {
            shown.add(style.dim("  and " + AmountText.count((long) all.size() - shown.size(), "more line")));
        }
        return shown;
    }

    private static List<String> member(String name, JsonNode value) {
        List<String> lines = new ArrayList<>(lines(value));
        if (lines.size() == 1) {
            return List.of(TerminalText.clean(name) + ": " + lines.getFirst());
        }
        lines.replaceAll(line -> "  " + line);
        lines.addFirst(TerminalText.clean(name) + ":");
        return lines;
    }

    private static List<String> lines(JsonNode value) {
        String text = value.isString() ? value.stringValue()
                : value.isContainer() ? value.toPrettyString()
                        : value.asString();
        return text.lines().map(Summary::printable).toList();
    }

    private static Set<String> tools(JsonNode task) {
        Set<String> tools = new TreeSet<>(texts(task.path("tools_needed")));
        tools.addAll(texts(task.path("tools")));
        task.path("steps").forEach(step -> tools.add(step.path("tool").asString("")));
        return tools;
    }

    private static Set<String> texts(JsonNode list) {
        Set<String> texts = new TreeSet<>();
        list.forEach(each -> texts.add(each.asString("")));
        return texts;
    }

    private static String list(Set<String> names) {
        return TerminalText.clean(String.join(", ", names));
    }
}
