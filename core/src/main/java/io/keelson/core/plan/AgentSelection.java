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
 * is out of 1,000: 600 for the agent's capabilities, 250 for low load, 150 for a cheap model. Ties go to the first
 * slug. Deterministic.
 */
public final class AgentSelection {
    private static final int MATCH = 600;
    private static final int LOAD = 250;
    private static final int COST = 150;
    /** Maximum lines and names in an explanation. */
    private static final int MAX_SHOWN = 20;

    /**
     * @param chosen null when no agent can do it
     * @param candidates a line for each agent considered, the best first
     */
    public record Choice(@Nullable RosterAgent chosen, List<String> candidates) {}

    private record Scored(RosterAgent agent, int match, int load, int cost) {
        private int score() {
            return match + load + cost;
        }

        private String line() {
            return agent.slug() + " " + score() + " (match " + match + ", load " + load + " with " + agent.open()
                    + " open, cost " + cost + ")";
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
                .map(agent -> new Scored(agent, match(agent, taskType), LOAD / (1 + agent.open()),
                        cost(agent.price(), cheapest)))
                .sorted(Comparator.comparing(Scored::score).reversed().thenComparing(each -> each.agent.slug()))
                .toList();
        List<String> lines = new ArrayList<>(scored.stream().limit(MAX_SHOWN).map(Scored::line).toList());
        roster.stream().filter(agent -> !able.contains(agent)).sorted(Comparator.comparing(RosterAgent::slug))
                .limit(MAX_SHOWN - lines.size()).forEach(agent -> lines.add(agent.slug() + " lacks "
                        + String.join(", ", toolsNeeded.stream().filter(tool -> !agent.tools().contains(tool))
                                .limit(MAX_SHOWN).toList())));
        return new Choice(scored.isEmpty() ? null : scored.getFirst().agent, lines);
    }

    /** Full points for the task's kind, half for an agent without capabilities or a task without a kind, else zero. */
    private static int match(RosterAgent agent, TaskType taskType) {
        if (agent.capabilities().contains(taskType.wire())) {
            return MATCH;
        }
        return agent.capabilities().isEmpty() || taskType == TaskType.OTHER ? MATCH / 2 : 0;
    }

    /** Full points for the cheapest, in proportion to its price for others; half where no price is known. */
    private static int cost(@Nullable BigDecimal price, @Nullable BigDecimal cheapest) {
        if (price == null || cheapest == null) {
            return COST / 2;
        }
        return price.signum() == 0 ? COST
                : cheapest.multiply(BigDecimal.valueOf(COST)).divide(price, 0, RoundingMode.HALF_UP).intValue();
    }
}
