package io.keelson.core.plan;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the roster agent for a task in turns. An agent without a required tool is excluded. The score of the others
 * is out of 1,000: up to 350 for the share of its tools that the task needs, 250 for its capabilities, 150 for a cheap model, 100 for few open tasks and
 * 150 for its latest tasks of that type. Below {@link #LEAST} a contractor is better. Ties go to the first slug.
 * Deterministic.
 */
public final class AgentSelection {
    /** The score from which an agent of the roster gets the task. */
    public static final int LEAST = 400;
    private static final int TOOLS = 350;
    private static final int SKILL = 250;
    private static final int MODEL = 150;
    private static final int FREE = 100;
    private static final int HISTORY = 150;
    /** Maximum lines and names in an explanation. */
    private static final int MAX_SHOWN = 20;

    /**
     * @param chosen null when no agent can do it, or none well enough
     * @param candidates a line for each agent considered, the best first
     */
    public record Choice(@Nullable RosterAgent chosen, List<String> candidates) {}

    private record Scored(RosterAgent agent, int tools, int skill, int model, int free, int history) {
        private int score() {
            return tools + skill + model + free + history;
        }

        private String line(TaskType taskType) {
            Integer percent = agent.history().get(taskType.wire());
            return agent.slug() + " " + score() + " (tools " + tools + ", skill " + skill + ", model " + model
                    + ", free "
                    + free + " with " + agent.open() + " open, history " + history
                    + (percent == null ? "" : " of " + percent + " %") + ")";
        }
    }

    private AgentSelection() {}

    /** True when the agent has all tools that the task needs. */
    public static boolean able(RosterAgent agent, Collection<String> toolsNeeded) {
        return agent.tools().containsAll(toolsNeeded);
    }

    /** @param taskType {@link TaskType#OTHER} requires no particular capability */
    public static Choice choose(Collection<RosterAgent> roster, TaskType taskType, Collection<String> toolsNeeded) {
        List<RosterAgent> able = roster.stream().filter(agent -> able(agent, toolsNeeded)).toList();
        BigDecimal cheapest = able.stream().map(RosterAgent::price).filter(Objects::nonNull)
                .min(Comparator.naturalOrder()).orElse(null);
        List<Scored> scored = able.stream()
                .map(agent -> new Scored(agent, tools(agent, toolsNeeded), skill(agent, taskType),
                        model(agent.price(), cheapest), FREE / (1 + agent.open()), history(agent, taskType)))
                .sorted(Comparator.comparing(Scored::score).reversed().thenComparing(each -> each.agent.slug()))
                .toList();
        List<String> lines =
                new ArrayList<>(scored.stream().limit(MAX_SHOWN).map(each -> each.line(taskType)).toList());
        roster.stream().filter(agent -> !able.contains(agent)).sorted(Comparator.comparing(RosterAgent::slug))
                .limit(MAX_SHOWN - lines.size()).forEach(agent -> lines.add(agent.slug() + " lacks "
                        + String.join(", ", toolsNeeded.stream().filter(tool -> !agent.tools().contains(tool))
                                .limit(MAX_SHOWN).toList())));
        return new Choice(scored.isEmpty() || scored.getFirst().score() < LEAST ? null : scored.getFirst().agent,
                lines);
    }

    /** In proportion to the share of its tools that the task needs; full points for a task that names none. */
    private static int tools(RosterAgent agent, Collection<String> needed) {
        return needed.isEmpty() ? TOOLS : TOOLS * needed.size() / agent.tools().size();
    }

    /** Full points for the task's kind, half for an agent without capabilities or a task without a kind, else zero. */
    private static int skill(RosterAgent agent, TaskType taskType) {
        if (agent.capabilities().contains(taskType.wire())) {
            return SKILL;
        }
        return agent.capabilities().isEmpty() || taskType == TaskType.OTHER ? SKILL / 2 : 0;
    }

    /** Full points for the cheapest, in proportion to its price for others; half where no price is known. */
    private static int model(@Nullable BigDecimal price, @Nullable BigDecimal cheapest) {
        if (price == null || cheapest == null) {
            return MODEL / 2;
        }
        return price.signum() == 0 ? MODEL
                : cheapest.multiply(BigDecimal.valueOf(MODEL)).divide(price, 0, RoundingMode.HALF_UP).intValue();
    }

    /** In proportion to the share of its latest tasks of the type that were completed; half without any. */
    private static int history(RosterAgent agent, TaskType taskType) {
        Integer percent = agent.history().get(taskType.wire());
        return percent == null ? HISTORY / 2 : HISTORY * percent / 100;
    }
}
