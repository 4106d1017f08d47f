package io.keelson.server.mission.plan;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** An entry of a plan as it is written: a task, or a switch or group with entries of its own. */
final class FlowItem {
    static final String SWITCH = "switch";
    static final String GROUP = "group";
    static final String ELSE = "else";
    static final String REPEAT = "repeat";

    /** The kinds of entries. */
    enum Kind {
        TASK, SWITCH, GROUP
    }

    /**
     * @param name unique in its switch
     * @param when as it is written; null for the branch that is chosen if no condition holds
     * @param at JSON pointer as the branch is written
     */
    record Branch(String name, @Nullable String when, List<FlowItem> items, String at) {}

    final Kind kind;
    /** With the names of the groups around it. */
    final String id;
    final JsonNode raw;
    /** JSON pointer as it is written. */
    final String at;
    final @Nullable FlowItem parent;
    /** Its branch of the switch around it; -1 elsewhere. */
    final int branch;
    /** Branches of a switch. */
    final List<Branch> branches = new ArrayList<>();
    /** Entries of a group. */
    final List<FlowItem> members = new ArrayList<>();

    FlowItem(Kind kind, String id, JsonNode raw, String at, @Nullable FlowItem parent, int branch) {
        this.kind = kind;
        this.id = id;
        this.raw = raw;
        this.at = at;
        this.parent = parent;
        this.branch = branch;
    }

    static Kind kind(JsonNode raw) {
        return raw.path(SWITCH).isArray() ? Kind.SWITCH : raw.path(GROUP).isArray() ? Kind.GROUP : Kind.TASK;
    }

    /** The entry in which a task of the flat plan ends it: the entry itself, but for a group without an output or rounds. */
    boolean endsAsTask() {
        return kind != Kind.GROUP || raw.has("output") || isRepeated();
    }

    /** Whether it is a group that is done in rounds. */
    boolean isRepeated() {
        return kind == Kind.GROUP && raw.has(REPEAT);
    }

    /** Whether both are entries of the same group, branch or plan. */
    boolean isBeside(FlowItem other) {
        return parent == other.parent && branch == other.branch;
    }

    /** The entry around this one, or this one, of the same group, branch or plan as another entry; null if absent. */
    @Nullable FlowItem beside(FlowItem other) {
        FlowItem at = this;
        while (at != null && !at.isBeside(other)) {
            at = at.parent;
        }
        return at;
    }

    /** Whether it is in a switch or group, at any depth. */
    boolean isIn(FlowItem container) {
        for (FlowItem at = parent; at != null; at = at.parent) {
            if (at == container) {
                return true;
            }
        }
        return false;
    }

    /** The entries in it, of all branches. */
    Stream<FlowItem> inner() {
        return Stream.concat(branches.stream().flatMap(each -> each.items().stream()), members.stream());
    }
}
