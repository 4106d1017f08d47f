package io.keelson.server.mission.plan;

import io.keelson.core.plan.Flow;
import io.keelson.core.plan.PlanProblem;
import io.keelson.server.mission.plan.FlowItem.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Dependencies of a plan with switches and groups, between the tasks of the flat plan. */
final class FlowEdges {

    /** A dependency of a task: the task's id in the flat plan, and the dependency's place; null if the entry names none. */
    record Upstream(String task, boolean ordering, @Nullable String at) {}

    private final FlowReader reader;
    private final Map<FlowItem, Set<String>> endsOf = new HashMap<>();

    /** @param reader has the entries by their ids when dependencies are resolved, and takes problems */
    FlowEdges(FlowReader reader) {
        this.reader = reader;
    }

    /** All dependencies of the task that begins an entry: also the dependencies of the entries that begin with that task. */
    List<Upstream> of(FlowItem item) {
        Map<String, Upstream> all = new LinkedHashMap<>();
        List<Upstream> twice = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (FlowItem at = item; at != null;) {
            FlowItem each = at;
            List<Upstream> own = own(each);
            for (Upstream up : own) {
                List<Upstream> resolved = resolved(up, each);
                if (each == item && !names.add(up.task)) {
                    twice.addAll(resolved);
                }
                resolved.forEach(task -> all.putIfAbsent(task.task, task));
            }
            FlowItem of = each.parent;
            at = of == null || of.isRepeated() || own.stream().anyMatch(up -> isBesideOf(up, each)) ? null : of;
            if (at != null && at.kind == Kind.SWITCH) {
                String chooser = Flow.chooser(at.id);
                all.putIfAbsent(chooser, new Upstream(chooser, true, null));
                at = isAgents(item) && FlatPlan.ALL_SUCCESS
                        .equals(JsonFields.text(at.raw, FlatPlan.TRIGGER_RULE, FlatPlan.ALL_SUCCESS)) ? at
                                : null;
            }
        }
        List<Upstream> list = new ArrayList<>(all.values());
        list.addAll(twice);
        return list;
    }

    /** Whether an agent does the task: it gets the outputs of the tasks on which it depends. */
    private static boolean isAgents(FlowItem item) {
        return item.kind == Kind.TASK && item.raw.path(FlatPlan.STEPS).isEmpty();
    }

    /** The dependencies that an entry itself names. */
    private static List<Upstream> own(FlowItem item) {
        String type = JsonFields.text(item.raw, "dependency_type", "data");
        List<Upstream> own = new ArrayList<>();
        JsonNode given = item.raw.path(FlatPlan.DEPENDS_ON);
        for (int d = 0; d < given.size(); d++) {
            JsonNode each = given.path(d);
            own.add(new Upstream(each.isString() ? each.stringValue() : JsonFields.text(each, "task", ""),
                    "ordering".equals(JsonFields.text(each, "type", type)), item.at + "/depends_on/" + d));
        }
        return own;
    }

    /** The tasks for which a dependency waits; an unknown name is reported later. */
    private List<Upstream> resolved(Upstream up, FlowItem item) {
        FlowItem target = target(up.task, item);
        if (target == null) {
            return List.of(up);
        }
        excluded(up, item, target);
        if (target.endsAsTask()) {
            return List.of(new Upstream(target.id, up.ordering, up.at));
        }
        return ends(target).stream().map(end -> new Upstream(end, up.ordering, up.at)).toList();
    }

    /** Reports a dependency on a task of another branch of the same switch, which never completes in the same run. */
    private void excluded(Upstream up, FlowItem item, FlowItem target) {
        for (FlowItem mine = item; mine.parent != null; mine = mine.parent) {
            for (FlowItem other = target; other.parent != null; other = other.parent) {
                if (mine.parent == other.parent && mine.branch != other.branch && up.at != null) {
                    reader.problems.add(new PlanProblem("DEPENDENCY_OTHER_BRANCH", up.at, "'" + Pointers.shown(up.task)
                            + "' is in another branch of the switch '" + mine.parent.id
                            + "': only one of them is done"));
                    return;
                }
            }
        }
    }

    /** The entry of that name: in the innermost group around the entry that has it, or in the plan. */
    private @Nullable FlowItem target(String name, FlowItem item) {
        for (FlowItem of = item.parent; of != null; of = of.parent) {
            FlowItem found = of.kind == Kind.GROUP ? reader.byId.get(of.id + "." + name) : null;
            if (found != null) {
                return found;
            }
        }
        return reader.byId.get(name);
    }

    /** The tasks of a group for which no other task of the group waits. */
    private Set<String> ends(FlowItem group) {
        Set<String> known = endsOf.get(group);
        if (known == null) {
            known = ends(group.members);
            endsOf.put(group, known);
        }
        return known;
    }

    /** The tasks with which these entries end. */
    Set<String> ends(List<FlowItem> items) {
        Set<String> ends = new LinkedHashSet<>();
        items.forEach(item -> ends.addAll(item.endsAsTask() ? Set.of(item.id) : ends(item)));
        items.forEach(item -> removeUpstreams(item, item, ends));
        return ends;
    }

    /** Removes the tasks outside of an entry for which the entry, or one in it, waits. */
    private void removeUpstreams(FlowItem item, FlowItem of, Set<String> ends) {
        for (Upstream up : own(item)) {
            FlowItem target = target(up.task, item);
            if (target != null && target.beside(of) != null && target.beside(of) != of) {
                ends.removeAll(target.endsAsTask() ? Set.of(target.id) : ends(target));
            }
        }
        item.inner().forEach(each -> removeUpstreams(each, of, ends));
    }

    /** Whether nothing in the branch comes before the entry. */
    boolean beginsBranch(FlowItem item, FlowItem of) {
        for (FlowItem at = item; at != null && at != of; at = at.parent) {
            FlowItem each = at;
            if (own(each).stream().anyMatch(up -> isBesideOf(up, each))) {
                return false;
            }
        }
        return true;
    }

    private boolean isBesideOf(Upstream up, FlowItem item) {
        FlowItem target = target(up.task, item);
        return target != null && target.beside(item) != null && target.beside(item) != item;
    }
}
