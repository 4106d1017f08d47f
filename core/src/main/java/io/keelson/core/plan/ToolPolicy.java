package io.keelson.core.plan;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Which tools a task may use: the tools that all rules allow and no rule denies. A denial wins over every allowance.
 *
 * @param rules the widest first
 */
public record ToolPolicy(List<Rule> rules) {

    /** The policy that allows all tools. */
    public static final ToolPolicy NONE = new ToolPolicy(List.of());

    private static final String ALL = "*";
    private static final String GROUP = ".*";

    /** The level of a rule, the widest first. */
    public enum Level {
        WORKSPACE, MISSION, TASK, AGENT;

        private final String wire = name().toLowerCase(Locale.ROOT);

        /** The name in JSON. */
        public String wire() {
            return wire;
        }
    }

    /**
     * A rule of one level. A tool is given by its name, by its group ({@code files.*}: all tools whose names begin with
     * {@code files.}), or by {@code *}.
     *
     * @param allowed all that may be used; null for all tools
     * @param denied what may not be used in any case
     */
    public record Rule(Level level, @Nullable List<String> allowed, List<String> denied) {

        public Rule {
            allowed = allowed == null ? null : List.copyOf(allowed);
            denied = List.copyOf(denied);
        }

        /** True when it refuses no tool. */
        public boolean open() {
            return allowed == null && denied.isEmpty();
        }

        private boolean denies(String tool) {
            return denied.stream().anyMatch(name -> names(name, tool));
        }

        private boolean allows(String tool) {
            return allowed == null || allowed.stream().anyMatch(name -> names(name, tool));
        }
    }

    public ToolPolicy {
        rules = rules.stream().filter(rule -> !rule.open()).toList();
    }

    /** The level that refuses the tool: the widest that denies it, else the widest that does not allow it; null if absent. */
    public @Nullable Level refusedBy(String tool) {
        return rules.stream().filter(rule -> rule.denies(tool)).findFirst()
                .or(() -> rules.stream().filter(rule -> !rule.allows(tool)).findFirst()).map(Rule::level).orElse(null);
    }

    private static boolean names(String name, String tool) {
        return name.equals(tool) || name.equals(ALL)
                || name.endsWith(GROUP) && tool.startsWith(name.substring(0, name.length() - 1));
    }
}
