package io.keelson.server.annex.trigger;

import io.keelson.api.trigger.Trigger;
import io.keelson.api.trigger.Trigger.Flow;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.store.read.RunReader;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Lets deliveries of a trigger with rules of flow pass to their runs, while the trigger's row is locked: rate first, then batch or
 * debounce, then singleton. The passes are stored with the deliveries, so all servers share them, and a delivery that is decided
 * again after a crash keeps the passes that it has.
 */
final class FlowGate {

    /** Poll interval for events that were received and did not join their group yet. */
    private static final Duration GROUP_POLL = Duration.ofSeconds(1);
    /** Poll interval for the start of a run that an event replaces. */
    private static final Duration SINGLETON_POLL = Duration.ofSeconds(1);
    private static final int MAX_FREED = 10_000;
    /** Maximum bytes of the bodies of a batch. */
    static final long MAX_BATCH_BYTES = 4L << 20;

    private final Database database;
    private final TriggerStore triggers;
    private final FlowStore flow;
    private final DeliveryStore deliveries;
    private final RunReader reader;
    private final Commands commands;

    FlowGate(Database database, TriggerStore triggers, FlowStore flow, DeliveryStore deliveries, RunReader reader,
            Commands commands) {
        this.database = database;
        this.triggers = triggers;
        this.flow = flow;
        this.deliveries = deliveries;
        this.reader = reader;
        this.commands = commands;
    }

    /**
     * Keys of a delivery, by the expressions of its trigger's rules.
     *
     * @param rate null without the rule; so are the others
     */
    record Keys(@Nullable String rate, @Nullable String group, @Nullable String single) {}

    /** A delivery of the trigger that may pass. */
    record Arrival(DeliveryRow delivery, Keys keys) {}

    /**
     * The result of a pass.
     *
     * @param passed ids of deliveries that may start their runs
     * @param decided outcomes of others
     */
    record Passed(Set<UUID> passed, List<Outcome> decided) {}

    /** Whether an event of the trigger may get the run of another event, or signals a run. */
    static boolean groups(Trigger.Definition definition) {
        Flow flow = definition.flow();
        return definition.signal() != null || flow != null && groups(flow);
    }

    private static boolean groups(Flow rules) {
        return rules.batch() != null || rules.debounce() != null;
    }

    /**
     * Frees keys of singletons whose runs have ended, of deliveries that were decided that number of days ago: a key without a further
     * event would keep its delivery for ever.
     *
     * @return whether more may be left
     */
    boolean free(int days) {
        return database.inTransaction(c -> {
            List<FlowStore.Holder> old = flow.oldHolders(c, days, MAX_FREED);
            List<FlowStore.Holder> ended = ended(c, old);
            flow.free(c, ended);
            return ended.size() == MAX_FREED;
        });
    }

    /** Frees keys of a trigger's singletons whose runs have ended. */
    void free(Connection c, UUID trigger) throws SQLException {
        flow.free(c, ended(c, flow.holders(c, trigger)));
    }

    private List<FlowStore.Holder> ended(Connection c, List<FlowStore.Holder> holders) throws SQLException {
        Map<UUID, RunReader.Progress> progress =
                reader.progress(c, holders.stream().map(FlowStore.Holder::runId).collect(Collectors.toSet()));
        return holders.stream().filter(each -> {
            RunReader.Progress found = progress.get(each.runId());
            return found != null && found.ended();
        }).toList();
    }

    /** Lets deliveries of one trigger pass, in the order in which they were received. */
    Passed pass(TriggerRow trigger, Flow rules, List<Arrival> arrivals) throws InterruptedException {
        Set<UUID> passed = new HashSet<>();
        List<Outcome> decided = new ArrayList<>();
        InterruptedException interrupted = database.<@Nullable InterruptedException>inTransaction(c -> {
            TriggerStore.Held held = triggers.lock(c, trigger.id()).orElse(null);
            if (held == null || !held.enabled() || held.version() != trigger.version()) {
                // The submission decides it: it reads the trigger again.
                arrivals.forEach(each -> passed.add(each.delivery().id()));
                return null;
            }
            try {
                pass(c, rules, arrivals, passed, decided);
                return null;
            } catch (InterruptedException e) {
                c.rollback();
                return e;
            }
        });
        if (interrupted != null) {
            throw interrupted;
        }
        return new Passed(passed, decided);
    }

    private void pass(Connection c, Flow rules, List<Arrival> arrivals, Set<UUID> passed, List<Outcome> decided)
            throws SQLException, InterruptedException {
        Instant now = flow.time(c);
        FlowLines lines = new FlowLines(c);
        List<Arrival> ready = new ArrayList<>();
        Set<UUID> holding = new HashSet<>();
        Map<String, List<Arrival>> groups = new LinkedHashMap<>();
        for (Arrival each : arrivals) {
            // Read now: another server may have decided it.
            FlowStore.Marks marks = flow.pending(c, each.delivery().id()).orElse(null);
            if (marks == null) {
                continue;
            }
            if (marks.atWork()) {
                holding.add(marks.id());
            }
            String group = each.keys().group();
            Outcome limited = rules.rate() == null || marks.admittedAt() != null ? null
                    : rate(c, lines, rules.rate(), each.delivery(), Objects.requireNonNull(each.keys().rate()), now);
            if (limited != null) {
                decide(c, rules, each, limited, decided);
            } else if (group == null || marks.formedAt() != null) {
                ready.add(each);
            } else {
                if (!group.equals(each.delivery().groupKey())) {
                    flow.join(c, marks.id(), group);
                }
                groups.computeIfAbsent(group, _ -> new ArrayList<>()).add(each);
            }
        }
        for (Map.Entry<String, List<Arrival>> each : groups.entrySet()) {
            ready.addAll(starters(c, rules, each.getKey(), each.getValue(), now, decided));
        }
        ready.sort(Comparator.comparing(each -> each.delivery().receivedAt()));
        for (Arrival each : ready) {
            UUID id = each.delivery().id();
            Outcome waits = rules.singleton() == null || holding.contains(id) ? null
                    : singleton(c, lines, rules.singleton(), each.delivery(),
                            Objects.requireNonNull(each.keys().single()), now);
            if (waits == null) {
                passed.add(id);
            } else {
                decide(c, rules, each, waits, decided);
            }
        }
    }

    private void decide(Connection c, Flow rules, Arrival arrival, Outcome outcome, List<Outcome> decided)
            throws SQLException {
        deliveries.decide(c, List.of(new DeliveryStore.Decision(arrival.delivery(), outcome, groups(rules))));
        decided.add(outcome);
    }

    /** Deliveries that wait are admitted in the order of their receipt, each due at the time of its admission. */
    private @Nullable Outcome rate(Connection c, FlowLines lines, Trigger.Rate rule, DeliveryRow delivery, String key,
            Instant now) throws SQLException {
        boolean queues = !rule.over().equals("drop");
        long before = queues ? lines.beforeInRate(delivery, key) : 0;
        Instant edge =
                flow.admitted(c, delivery.triggerId(), key, FlowTimes.laterAdmissions(rule, before)).orElse(null);
        Instant admission = FlowTimes.admission(rule, before, edge, now);
        boolean waits = admission.isAfter(now);
        lines.placed(delivery, key, before, waits);
        if (!waits) {
            flow.admit(c, delivery.id(), key);
            return null;
        }
        String message = rule.limit() + " events are admitted in " + rule.periodSeconds() + " s";
        if (!queues) {
            return Outcome.dropped("RATE_LIMITED", message);
        }
        lines.joinRate(delivery.id(), key);
        return Outcome.postponed("RATE_LIMITED", message, Duration.between(now, admission));
    }

    /**
     * The arrivals of a group that start its runs. Others of these runs are merged with them, and the rest wait. The group is read
     * once for all arrivals, which have joined it.
     */
    private List<Arrival> starters(Connection c, Flow rules, String key, List<Arrival> arrivals, Instant now,
            List<Outcome> decided) throws SQLException {
        UUID trigger = arrivals.getFirst().delivery().triggerId();
        Map<UUID, Arrival> waiting = new LinkedHashMap<>();
        arrivals.forEach(each -> waiting.put(each.delivery().id(), each));
        List<Arrival> starters = new ArrayList<>();
        List<FlowStore.Member> members = flow.members(c, trigger, key, rules.batch() != null);
        Duration delay = delay(c, rules, trigger, members, now);
        while (delay.isZero()) {
            List<FlowStore.Member> group = next(rules, members);
            FlowStore.Member starter = rules.batch() == null ? group.getLast() : group.getFirst();
            List<UUID> others =
                    group.stream().map(FlowStore.Member::id).filter(each -> !each.equals(starter.id())).toList();
            decided.addAll(Collections.nCopies(flow.merge(c, others, starter.runId()),
                    Outcome.merged(starter.runId())));
            others.forEach(waiting::remove);
            Arrival arrived = waiting.remove(starter.id());
            flow.form(c, starter.id(), arrived == null);
            if (arrived != null) {
                starters.add(arrived);
            }
            members = members.subList(group.size(), members.size());
            delay = delay(c, rules, trigger, members, now);
        }
        for (Arrival each : waiting.values()) {
            decide(c, rules, each, Outcome.postponed(rules.batch() == null ? "DEBOUNCED" : "BATCHED",
                    "it waits for further events", delay), decided);
        }
        return starters;
    }

    /** The members that the next run of a group is for. */
    private static List<FlowStore.Member> next(Flow rules, List<FlowStore.Member> members) {
        return rules.batch() == null ? FlowTimes.burst(Objects.requireNonNull(rules.debounce()), members)
                : FlowTimes.first(rules.batch(), members, MAX_BATCH_BYTES);
    }

    /**
     * The time for which a group waits for further events; zero if it starts a run now. It waits for events of its period that were
     * received and did not join yet, as after a stop of all servers: each of them would start a run of its own.
     */
    private Duration delay(Connection c, Flow rules, UUID trigger, List<FlowStore.Member> members, Instant now)
            throws SQLException {
        Trigger.Batch batch = rules.batch();
        if (members.isEmpty()) {
            return GROUP_POLL;
        }
        if (batch != null && members.size() >= batch.max()) {
            return Duration.ZERO;
        }
        Instant due = batch == null
                ? FlowTimes.debounced(Objects.requireNonNull(rules.debounce()), next(rules, members))
                : FlowTimes.batched(batch, members, now);
        if (due.isAfter(now)) {
            return Duration.between(now, due);
        }
        int period = batch == null ? Objects.requireNonNull(rules.debounce()).periodSeconds() : batch.periodSeconds();
        Instant since = members.getFirst().receivedAt().minusSeconds(period);
        return flow.hasUndecided(c, trigger, since, due) ? GROUP_POLL : Duration.ZERO;
    }

    private @Nullable Outcome singleton(Connection c, FlowLines lines, Trigger.Singleton rule, DeliveryRow delivery,
            String key, Instant now) throws SQLException, InterruptedException {
        List<FlowStore.Holder> open = new ArrayList<>(flow.atWork(c, delivery.triggerId(), key));
        List<FlowStore.Holder> ended = ended(c, open);
        flow.free(c, ended);
        open.removeAll(ended);
        if (!open.isEmpty() && rule.over().equals("skip")) {
            return Outcome.dropped("SINGLETON_OPEN", "a run of the key is open: " + open.getFirst().runId());
        }
        boolean behind = rule.over().equals("queue") && lines.isBehind(delivery, key);
        if (rule.over().equals("queue") && (behind || !open.isEmpty())) {
            Duration delay = lines.joinSingle(delivery, key, behind, now);
            if (open.isEmpty()) {
                lines.wakeSingle(delivery.triggerId(), key, Duration.ZERO);
            }
            return Outcome.postponed("SINGLETON_OPEN",
                    open.isEmpty() ? "it waits for events before it" : "it waits for run " + open.getFirst().runId(),
                    delay);
        }
        for (FlowStore.Holder each : open) {
            if (!cancelled(each.runId())) {
                return Outcome.postponed("SINGLETON_OPEN", "it waits for run " + each.runId() + " to start",
                        SINGLETON_POLL);
            }
            flow.free(c, List.of(each));
        }
        flow.occupy(c, delivery.id(), key);
        lines.wakeSingle(delivery.triggerId(), key, SINGLETON_POLL);
        return null;
    }

    /** False for a run that is not created yet. */
    private boolean cancelled(UUID run) throws InterruptedException {
        try {
            commands.commit(new Command.Cancel(run, "an event replaces the run", Actor.SYSTEM), null);
            return true;
        } catch (Commands.RunNotFound e) {
            return false;
        }
    }
}
