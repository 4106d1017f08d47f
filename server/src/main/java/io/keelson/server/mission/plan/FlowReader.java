package io.keelson.server.mission.plan;

import io.keelson.core.plan.PlanProblem;
import io.keelson.server.mission.plan.FlowItem.Branch;
import io.keelson.server.mission.plan.FlowItem.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads the entries of a plan, with the entries of switches and groups, and reports problems of their structure. */
final class FlowReader {
    private static final int MAX_DEPTH = 5;
    private static final int MAX_ID = 200;
    private static final Set<String> OF_BOTH =
            Set.of("id", "temp_id", "title", "description", "depends_on", "dependency_type", "output");
    private static final Set<String> OF_SWITCH = Set.of(FlowItem.SWITCH, "when", "trigger_rule");
    private static final Set<String> OF_GROUP = Set.of(FlowItem.GROUP, FlowItem.REPEAT);
    private static final Set<String> OF_REPEATED = Set.of("when", "trigger_rule", "failure_mode");

    /** Entries by their ids; of entries with the same id the first. */
    final Map<String, FlowItem> byId = new HashMap<>();
    final List<PlanProblem> problems = new ArrayList<>();

    /** The entries of the plan itself. */
    List<FlowItem> read(JsonNode tasks) {
        List<FlowItem> items = new ArrayList<>();
        items(tasks, "/plan/tasks", null, -1, "", 0, items);
        return items;
    }

    private void items(JsonNode list, String at, @Nullable FlowItem parent, int branch, String prefix, int depth,
            List<FlowItem> into) {
        for (int i = 0; i < list.size(); i++) {
            into.add(item(list.path(i), Pointers.of(at, i), parent, branch, prefix, depth));
        }
    }

    private FlowItem item(JsonNode raw, String at, @Nullable FlowItem parent, int branch, String prefix, int depth) {
        Kind kind = FlowItem.kind(raw);
        String own = JsonFields.text(raw, "id", JsonFields.text(raw, "temp_id", ""));
        FlowItem item = new FlowItem(kind, prefix + own, raw, at, parent, branch);
        byId.putIfAbsent(item.id, item);
        if (!prefix.isEmpty() && item.id.length() > MAX_ID) {
            report("TOO_LONG", at + "/id",
                    "with the names of the groups around it, at most " + MAX_ID + " characters are allowed");
        }
        if (kind == Kind.TASK) {
            return item;
        }
        if (depth >= MAX_DEPTH) {
            report("NESTED_TOO_DEEP", at, "switches and groups are nested at most " + MAX_DEPTH + " deep");
            return item;
        }
        members(raw, at, kind);
        if (kind == Kind.GROUP) {
            items(raw.path(FlowItem.GROUP), Pointers.of(at, FlowItem.GROUP), item, -1, item.id + ".", depth + 1,
                    item.members);
        } else {
            branches(item, prefix, depth);
        }
        return item;
    }

    private void members(JsonNode raw, String at, Kind kind) {
        String name = kind == Kind.SWITCH ? FlowItem.SWITCH : FlowItem.GROUP;
        Set<String> own = kind == Kind.SWITCH ? OF_SWITCH : OF_GROUP;
        raw.propertyNames().stream().filter(key -> !OF_BOTH.contains(key) && !own.contains(key)
                && !(own == OF_GROUP && raw.has(FlowItem.REPEAT) && OF_REPEATED.contains(key)))
                .forEach(key -> report("FLOW_MEMBER", Pointers.of(at, key), "an entry with '" + name + "' has no '"
                        + Pointers.shown(key) + "': give it to the tasks in it"));
        if (!raw.has("id") && !raw.has("temp_id")) {
            report("REQUIRED", at + "/id", "'id' must be given");
        }
    }

    private void branches(FlowItem item, String prefix, int depth) {
        JsonNode given = item.raw.path(FlowItem.SWITCH);
        String at = Pointers.of(item.at, FlowItem.SWITCH);
        Set<String> names = new HashSet<>();
        for (int b = 0; b < given.size(); b++) {
            JsonNode raw = given.path(b);
            String here = Pointers.of(at, b);
            boolean last = raw.has(FlowItem.ELSE);
            String name = JsonFields.text(raw, "name", last ? FlowItem.ELSE : String.valueOf(b + 1));
            if (!names.add(name)) {
                report("DUPLICATE_NAME", raw.has("name") ? here + "/name" : here,
                        "the switch has another branch '" + Pointers.shown(name) + "'");
            }
            shape(raw, here, last, b == given.size() - 1);
            List<FlowItem> items = new ArrayList<>();
            String list = last ? FlowItem.ELSE : "tasks";
            items(raw.path(list), Pointers.of(here, list), item, b, prefix, depth + 1, items);
            item.branches.add(new Branch(name, last ? null : JsonFields.text(raw, "when", ""), items, here));
        }
    }

    private void shape(JsonNode raw, String at, boolean last, boolean atEnd) {
        if (!raw.isObject()) {
            return;
        }
        if (last && !atEnd) {
            report("SWITCH_ELSE_NOT_LAST", at + "/else", "'else' is the last branch of its switch");
        }
        for (String key : List.of("when", "tasks")) {
            if (last && raw.has(key)) {
                report("FLOW_MEMBER", Pointers.of(at, key), "a branch with 'else' has no '" + key + "'");
            } else if (!last && !raw.has(key)) {
                report("REQUIRED", Pointers.of(at, key), "'" + key + "' must be given");
            }
        }
    }

    private void report(String code, String pointer, String message) {
        problems.add(new PlanProblem(code, pointer, message));
    }
}
