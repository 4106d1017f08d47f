package io.keelson.server.mission.roster;

import io.keelson.core.money.TokenPrices;
import io.keelson.core.plan.RosterAgent;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.tenant.money.Money;
import io.keelson.server.tenant.money.PriceKind;
import io.keelson.server.tenant.money.PriceRow;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Collectors;

/** Reads the facts for a choice among agents: agents, open tasks, latest tasks, model prices. */
public final class AgentCandidates {
    private final Roster roster;
    private final Database database;
    private final RunReader runs;
    private final Money money;

    public AgentCandidates(Roster roster, Database database, RunReader runs, Money money) {
        this.roster = roster;
        this.database = database;
        this.runs = runs;
        this.money = money;
    }

    private static BigDecimal both(PriceRow price) {
        TokenPrices usd = Objects.requireNonNull(price.usdPerMillion());
        return usd.input().add(usd.output());
    }

    public List<RosterAgent> of(UUID workspace) {
        List<RosterEntry> agents = roster.all(workspace);
        if (agents.isEmpty()) {
            return List.of();
        }
        Map<Integer, Integer> open = database.withConnection(c -> runs.openTasksOfAgents(c, workspace));
        Map<Integer, Map<String, Integer>> history = database.withConnection(
                c -> runs.historyOfAgents(c, workspace, agents.stream().map(RosterEntry::id).toList()));
        Map<String, BigDecimal> prices = money.prices().current().prices().stream()
                .filter(price -> price.kind() == PriceKind.MODEL)
                .collect(Collectors.toMap(PriceRow::name, AgentCandidates::both));
        return agents.stream().map(agent -> new RosterAgent(agent.id(), agent.slug(), agent.name(), agent.model(),
                agent.instructions(), agent.tools(), agent.capabilities(),
                agent.maxTurns() == null ? 0 : agent.maxTurns(), agent.runsOn(), agent.approvals(),
                open.getOrDefault(agent.id(), 0),
                agent.model() == null ? null : prices.get(agent.model()), history.getOrDefault(agent.id(), Map.of())))
                .toList();
    }
}
