package io.keelson.server.mission.plan;

import io.keelson.core.plan.Flow;
import io.keelson.core.plan.PlanProblem;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.plan.FlowEdges.Upstream;
import io.keelson.server.mission.plan.FlowItem.Branch;
import io.keelson.server.mission.plan.FlowItem.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A plan whose switches and groups are replaced by tasks in one list, with dependencies and conditions.
 *
 * <p>A switch becomes two tasks. The first one, which has an agent of its own, so that it does not start over with other tasks,
 * evaluates the conditions and has the name of the branch as its output. The tasks of the branches have conditions on that
 * output, so that they never evaluate the switch's conditions again. The second one has the switch's id and ends it: it waits
 * for all branches, and completes if the ends of the chosen one have completed.
 *
 * <p>A group becomes its tasks, with the group's id before their own. With an output, it has a task that ends it. A group with rounds
 * becomes a task with {@code repeat}, which names its tasks, and these tasks.
 */
final class FlatPlan {
    static final String FLOW = "flow";
    private static final int MAX_TASKS = 10_000;
    private static final int MAX_CONDITION = 20_000;
    private static final String WHEN = "when";
    static final String DEPENDS_ON = "depends_on";
    static final String TRIGGER_RULE = "trigger_rule";
    static final String ALL_SUCCESS = "all_success";
    static final String STEPS = "steps";
    /** Members of a repeated group that its task in the flat plan keeps. */
    private static final List<String> LOOP =
            List.of(FlowItem.REPEAT, WHEN, TRIGGER_RULE, "failure_mode", "output");
    private static final Pattern EXPRESSION = Pattern.compile("\\s*\\$\\{(.*)}\\s*", Pattern.DOTALL);

    private final FlowReader reader = new FlowReader();
    private final FlowEdges edges = new FlowEdges(reader);
    private final ArrayNode tasks = JsonNodeFactory.instance.arrayNode();
    /** JSON pointers as they are written by the pointers in the flat plan. */
    private final Map<String, String> written = new HashMap<>();
    /** Pointers in the flat plan below which nothing is written. */
    private final Set<String> places = new HashSet<>();
    private final JsonNode plan;

    private FlatPlan(JsonNode given) {
        if (!given.path("tasks").isArray()
                || given.path("tasks").valueStream().allMatch(each -> FlowItem.kind(each) == Kind.TASK)) {
            plan = given;
            return;
        }
        reader.read(given.path("tasks")).forEach(this::add);
        if (tasks.size() > MAX_TASKS) {
            reader.problems.add(new PlanProblem("TOO_MANY", "/plan/tasks", "at most " + MAX_TASKS
                    + " are allowed, these are " + tasks.size() + " with those of switches and groups"));
        }
        ObjectNode flat = JsonNodeFactory.instance.objectNode().setAll((ObjectNode) given);
        flat.set("tasks", tasks);
        plan = flat;
    }

    /** @param given as it is written; not changed */
    static FlatPlan of(JsonNode given) {
        return new FlatPlan(given);
    }

    /** The plan without switches and groups; the given one if it has none. */
    JsonNode plan() {
        return plan;
    }

    /** Problems of the structure, with pointers as it is written. */
    List<PlanProblem> problems() {
        return reader.problems;
    }

    /** Problems of the flat plan with their pointers as the plan is written. A problem of a part that was made follows from others in its place. */
    List<PlanProblem> asWritten(List<PlanProblem> found) {
        if (written.isEmpty()) {
            return found;
        }
        List<PlanProblem> problems = found.stream().map(this::asWritten).toList();
        List<PlanProblem> own = new ArrayList<>();
        for (int i = 0; i < problems.size(); i++) {
            String at = problems.get(i).pointer() + "/";
            if (!isMade(found.get(i).pointer()) || problems.stream().noneMatch(each -> each.pointer().startsWith(at))) {
                own.add(problems.get(i));
            }
        }
        return own;
    }

    private boolean isMade(String pointer) {
        for (String at = pointer; !at.isEmpty(); at = at.substring(0, at.lastIndexOf('/'))) {
            if (places.contains(at)) {
                return true;
            }
        }
        return false;
    }

    private PlanProblem asWritten(PlanProblem problem) {
        for (String at = problem.pointer(); !at.isEmpty(); at = at.substring(0, at.lastIndexOf('/'))) {
            String place = written.get(at);
            if (place != null) {
                String rest = places.contains(at) ? "" : problem.pointer().substring(at.length());
                return new PlanProblem(problem.code(), place + rest, problem.message());
            }
        }
        return problem;
    }

    /** Whether reading a plan has added the task, which only chooses a branch, ends a switch or group, or has a group's rounds. */
    static boolean added(JsonNode task) {
        JsonNode steps = task.path(STEPS);
        return (task.path(FLOW).has("chooses") || task.path(FLOW).has("ends")
                || !task.path(FlowItem.REPEAT).path("tasks").isEmpty()) && steps.size() == 1
                && Set.of("echo", "noop").contains(JsonFields.text(steps.path(0), "tool", ""));
    }

    private void add(FlowItem item) {
        switch (item.kind) {
            case TASK -> addTask(item);
            case SWITCH -> {
                addChoice(item);
                item.inner().forEach(this::add);
                addJoin(item);
            }
            case GROUP -> {
                if (item.isRepeated()) {
                    addLoop(item);
                    return;
                }
                item.inner().forEach(this::add);
                if (item.endsAsTask()) {
                    addEnd(item, upstreams(edges.ends(item.members), item.at), null, null);
                }
            }
        }
    }

    private void addTask(FlowItem item) {
        if (!(item.raw instanceof ObjectNode raw)) {
            place(item.at);
            tasks.add(item.raw);
            return;
        }
        String here = place(item.at);
        ObjectNode task = raw.deepCopy();
        if (item.parent != null) {
            putIds(item, task);
            task.set(FLOW, flow(item));
            condition(item, task);
        }
        task.remove("dependency_type");
        setUpstreams(task, edges.of(item), here);
        if (task.path(DEPENDS_ON).isEmpty() && !raw.has(DEPENDS_ON)) {
            task.remove(DEPENDS_ON);
        }
        tasks.add(task);
    }

    private static void putIds(FlowItem item, ObjectNode task) {
        for (String key : List.of("id", "temp_id")) {
            if (task.path(key).isString()) {
                task.put(key, item.id);
            }
        }
    }

    /** The condition of a task in a branch, before the task's own. */
    private void condition(FlowItem item, ObjectNode task) {
        FlowItem root = item;
        String rule = JsonFields.text(task, TRIGGER_RULE, ALL_SUCCESS);
        List<String> conditions = new ArrayList<>();
        for (FlowItem of = root.parent; of != null && !of.isRepeated(); root = of, of = of.parent) {
            if (of.kind == Kind.SWITCH && (!rule.equals(ALL_SUCCESS) || edges.beginsBranch(item, of))) {
                conditions.addFirst("(.tasks[" + quoted(Flow.chooser(of.id)) + "].output.branch == "
                        + quoted(of.branches.get(root.branch).name()) + ")");
            }
        }
        if (conditions.isEmpty()) {
            return;
        }
        if (rule.equals("always")) {
            problem("FLOW_MEMBER", item.at + "/trigger_rule",
                    "a task of a branch waits for the choice of the branch: it has no trigger_rule 'always'");
        }
        String own = JsonFields.text(task, WHEN);
        if (own != null && EXPRESSION.matcher(own).matches()) {
            conditions.add("(" + bare(own) + "\n)");
        }
        if (own == null || EXPRESSION.matcher(own).matches()) {
            task.put(WHEN, "${ " + String.join(" and ", conditions) + " }");
        }
    }

    /** A task that does the tasks of a group in rounds, and these tasks. */
    private void addLoop(FlowItem item) {
        String here = place(item.at);
        ObjectNode task = shared(item, item.id, JsonFields.text(item.raw, "title", item.id));
        for (String key : LOOP) {
            if (item.raw.has(key)) {
                task.set(key, item.raw.get(key));
            }
        }
        if (item.parent != null) {
            task.set(FLOW, flow(item));
        }
        condition(item, task);
        markMade(here + "/steps", item.at);
        task.putArray(STEPS).addObject().put("name", "end").put("tool", "noop");
        setUpstreams(task, edges.of(item), here);
        int at = tasks.size();
        tasks.add(task);
        item.inner().forEach(this::add);
        if (task.path(FlowItem.REPEAT) instanceof ObjectNode given) {
            ObjectNode repeat = given.deepCopy();
            task.set(FlowItem.REPEAT, repeat);
            ArrayNode names = repeat.putArray("tasks");
            for (int i = at + 1; i < tasks.size(); i++) {
                String id = JsonFields.text(tasks.get(i), "id", JsonFields.text(tasks.get(i), "temp_id", ""));
                if (id.startsWith(item.id + ".")) {
                    names.add(id.substring(item.id.length() + 1));
                }
            }
        }
    }

    private void addChoice(FlowItem item) {
        String here = place(item.at);
        ObjectNode task = shared(item, Flow.chooser(item.id), JsonFields.text(item.raw, "title", item.id));
        task.put("title", JsonFields.text(item.raw, "title", item.id));
        task.putObject("suggested_agent").put("agent_name", Flow.chooser(item.id));
        StringBuilder choice = new StringBuilder("${ ");
        int open = 0;
        String otherwise = "null";
        ObjectNode flow = flow(item);
        flow.put("chooses", item.id);
        ArrayNode branches = flow.putArray("branches");
        for (int b = 0; b < item.branches.size(); b++) {
            Branch branch = item.branches.get(b);
            ObjectNode shown = branches.addObject().put("name", branch.name());
            if (branch.when() == null) {
                otherwise = quoted(branch.name());
            } else {
                shown.put(WHEN, "${ " + bare(branch.when()) + "\n}");
                choice.append(open++ == 0 ? "if (" : " elif (").append(bare(branch.when())).append("\n) then ")
                        .append(quoted(branch.name()));
            }
            written.put(here + "/flow/branches/" + b + "/when", branch.at() + "/when");
        }
        choice.append(open == 0 ? otherwise : " else " + otherwise + " end").append(" }");
        markMade(here + "/steps", Pointers.of(item.at, FlowItem.SWITCH));
        task.set(FLOW, flow);
        for (String key : List.of(WHEN, TRIGGER_RULE)) {
            if (item.raw.has(key)) {
                task.set(key, item.raw.get(key));
            }
        }
        if (item.parent != null) {
            condition(item, task);
        }
        task.putArray(STEPS).addObject().put("name", "choose").put("tool", "echo").putObject("input")
                .put("branch", choice.toString());
        setUpstreams(task, edges.of(item), here);
        tasks.add(task);
    }

    private void addJoin(FlowItem item) {
        String chooser = Flow.chooser(item.id);
        List<Upstream> upstreams = new ArrayList<>(List.of(new Upstream(chooser, true, null)));
        StringBuilder chosen = new StringBuilder();
        for (Branch branch : item.branches) {
            Set<String> ends = edges.ends(branch.items());
            upstreams.addAll(upstreams(ends, branch.at()));
            if (!ends.isEmpty()) {
                chosen.append(chosen.isEmpty() ? "if" : " elif").append(" $b == ").append(quoted(branch.name()))
                        .append(" then ").append(ends.stream()
                                .map(end -> ".tasks[" + quoted(end) + "].state == \"completed\"")
                                .collect(Collectors.joining(" and ")));
            }
        }
        String when = "${ (.tasks[" + quoted(chooser) + "].output.branch) as $b | .tasks[" + quoted(chooser)
                + "].state == \"completed\" and ("
                + (chosen.isEmpty() ? "true" : chosen + " else true end") + ") }";
        if (when.length() > MAX_CONDITION) {
            problem("TOO_MANY", Pointers.of(item.at, FlowItem.SWITCH),
                    "so many tasks end its branches that the condition of its end has more than " + MAX_CONDITION
                            + " characters: put the tasks of a branch into a group with an output");
        }
        addEnd(item, upstreams, when, chooser);
    }

    private void addEnd(FlowItem item, List<Upstream> upstreams, @Nullable String when, @Nullable String chooser) {
        String here = place(item.at);
        ObjectNode task = shared(item, item.id, JsonFields.text(item.raw, "title", item.id) + ": end");
        ObjectNode flow = flow(item);
        flow.put("ends", item.id);
        task.set(FLOW, flow);
        if (when != null) {
            task.put(TRIGGER_RULE, "all_done");
            task.put(WHEN, when);
        }
        markMade(here + "/steps", item.at);
        markMade(here + "/when", item.at);
        ObjectNode step = task.putArray(STEPS).addObject().put("name", "end");
        if (item.raw.has("output")) {
            step.put("tool", "noop");
            task.set("output", item.raw.get("output"));
        } else {
            step.put("tool", "echo").putObject("input").put("branch",
                    "${ .tasks[" + quoted(String.valueOf(chooser)) + "].output.branch }");
        }
        setUpstreams(task, upstreams, here);
        tasks.add(task);
    }

    private static ObjectNode shared(FlowItem item, String id, String title) {
        ObjectNode task = JsonNodeFactory.instance.objectNode().put("id", id).put("title", title);
        if (item.raw.has("description")) {
            task.set("description", item.raw.get("description"));
        }
        return task;
    }

    private String place(String at) {
        String here = "/plan/tasks/" + tasks.size();
        written.put(here, at);
        return here;
    }

    /** Records a part of the flat plan whose problems are problems of a whole place. */
    private void markMade(String here, String at) {
        written.put(here, at);
        places.add(here);
    }

    /** The branches and groups around an entry. */
    private static ObjectNode flow(FlowItem item) {
        ObjectNode flow = JsonNodeFactory.instance.objectNode();
        List<ObjectNode> places = new ArrayList<>();
        FlowItem at = item;
        for (FlowItem of = item.parent; of != null; at = of, of = of.parent) {
            ObjectNode place = JsonNodeFactory.instance.objectNode().put("of", of.id);
            if (of.kind == Kind.SWITCH) {
                place.put("branch", of.branches.get(at.branch).name());
            }
            places.addFirst(place);
        }
        if (!places.isEmpty()) {
            flow.putArray("within").addAll(places);
        }
        return flow;
    }

    private static List<Upstream> upstreams(Set<String> tasks, String at) {
        return tasks.stream().map(task -> new Upstream(task, false, at)).toList();
    }

    private void setUpstreams(ObjectNode task, List<Upstream> upstreams, String here) {
        ArrayNode list = task.putArray(DEPENDS_ON);
        for (Upstream up : upstreams) {
            if (up.at() != null) {
                written.put(here + "/depends_on/" + list.size(), up.at());
            }
            if (up.ordering()) {
                list.addObject().put("task", up.task()).put("type", "ordering");
            } else {
                list.add(up.task());
            }
        }
    }

    private void problem(String code, String pointer, String message) {
        reader.problems.add(new PlanProblem(code, pointer, message));
    }

    private static String bare(String expression) {
        var inner = EXPRESSION.matcher(expression);
        return inner.matches() ? inner.group(1) : expression;
    }

    private static String quoted(String name) {
        return Json.string(name).toString();
    }
}
