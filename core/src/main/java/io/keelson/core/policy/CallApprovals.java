package io.keelson.core.policy;

import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An agent's rules about persons' approval of its calls. The only place of these rules, for built-in tools, tools of workers
 * and any others. Several rules of a tool ask about each call that one of them asks about.
 *
 * @param byTool rules by tool. Those under {@link #ANY} are for tools without rules of their own, beside their effects
 */
public record CallApprovals(Map<String, List<CallApproval>> byTool) {
    /** In place of a tool's name: all tools without rules of their own. */
    public static final String ANY = "*";
    public static final CallApprovals NONE = new CallApprovals(Map.of());
    private static final List<CallApproval> DEFAULT = List.of(CallApproval.EFFECTS);

    public CallApprovals {
        TreeMap<String, List<CallApproval>> copy = new TreeMap<>();
        byTool.forEach((tool, rules) -> copy.put(tool, List.copyOf(rules)));
        byTool = Map.copyOf(copy);
    }

    /** One rule for one tool. */
    public static CallApprovals of(String tool, CallApproval rule) {
        return new CallApprovals(Map.of(tool, List.of(rule)));
    }

    /** The rules of the tool. */
    public List<CallApproval> of(String tool) {
        List<CallApproval> own = byTool.get(tool);
        return own == null ? join(DEFAULT, byTool.getOrDefault(ANY, List.of())) : own;
    }

    /** Rules that ask about each call that these or the others ask about. */
    public CallApprovals and(CallApprovals others) {
        if (others.byTool.isEmpty()) {
            return this;
        }
        Set<String> tools = new TreeSet<>(byTool.keySet());
        tools.addAll(others.byTool.keySet());
        tools.add(ANY);
        Map<String, List<CallApproval>> both = new TreeMap<>();
        for (String tool : tools) {
            both.put(tool, tool.equals(ANY)
                    ? join(byTool.getOrDefault(ANY, List.of()), others.byTool.getOrDefault(ANY, List.of()))
                    : join(of(tool), others.byTool.getOrDefault(tool, others.byTool.getOrDefault(ANY, List.of()))));
        }
        both.values().removeIf(List::isEmpty);
        return new CallApprovals(both);
    }

    private static List<CallApproval> join(List<CallApproval> one, List<CallApproval> other) {
        return List.copyOf(new LinkedHashSet<>(Stream.concat(one.stream(), other.stream()).toList()));
    }

    /**
     * Why a call waits for a person, or may have to; null when it does not. A reason that is certain goes before a condition.
     *
     * @param effects of the tool; null for a tool of workers that announce none
     * @param outside the source of data from outside that the agent has seen; null if absent
     */
    public @Nullable CallGate gate(String tool, @Nullable Effects effects, @Nullable String outside) {
        List<CallGate> gates = of(tool).stream().map(rule -> rule.gate(effects, outside)).filter(Objects::nonNull)
                .sorted(Comparator.comparing(CallGate::reason)).toList();
        List<String> conditions = gates.stream().filter(CallGate::conditional).map(CallGate::detail).toList();
        return gates.isEmpty() ? null
                : conditions.size() < 2 || !gates.getFirst().conditional() ? gates.getFirst()
                        : new CallGate(CallGate.Reason.CONDITION, either(conditions));
    }

    /** One jq expression; a comment at the end of a condition ends with its line. */
    private static String either(List<String> conditions) {
        return "(" + String.join("\n), (", conditions) + "\n)";
    }
}
