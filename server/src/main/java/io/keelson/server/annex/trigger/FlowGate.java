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
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Lets deliveries of a trigger with rules of flow pass to their runs, while the trigger's row is locked: rate first, then batch or
 * debounce, then singleton. The passes are stored with the deliveries, so all servers share them, and a delivery that is decided
 * again after a crash keeps the passes that it has.
 */
final class FlowGate {

    /** Poll interval for the end of a run that a delivery waits for. */
    private static final Duration SINGLETON_POLL = Duration.ofSeconds(1);
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

    /** Whether an event of the trigger may get the run of another event. */
    static boolean groups(Trigger.Definition definition) {
        Flow flow = definition.flow();
        return flow != null && (flow.batch() != null || flow.debounce() != null);
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
        for (Arrival each : arrivals) {
            // Read now: an arrival before this one may have merged it.
            FlowStore.Marks marks = flow.pending(c, each.delivery().id()).orElse(null);
            if (marks == null) {
                continue;
            }
            Outcome outcome = outcome(c, rules, each, marks, now, decided);
            if (outcome == null) {
                passed.add(marks.id());
            } else {
                deliveries.decide(c, each.delivery(), outcome);
                decided.add(outcome);
            }
        }
    }

    /** Null if the delivery passes. */
    private @Nullable Outcome outcome(Connection c, Flow rules, Arrival arrival, FlowStore.Marks marks, Instant now,
            List<Outcome> decided) throws SQLException, InterruptedException {
        DeliveryRow delivery = arrival.delivery();
        if (rules.rate() != null && marks.admittedAt() == null) {
            Outcome limited = rate(c, rules.rate(), delivery, Objects.requireNonNull(arrival.keys().rate()), now);
            if (limited != null) {
                return limited;
            }
        }
        String group = arrival.keys().group();
        if (group != null && marks.formedAt() == null) {
            Outcome waits = group(c, rules, delivery, group, now, decided);
            if (waits != null) {
                return waits;
            }
        }
        return rules.singleton() == null || marks.atWork() ? null
                : singleton(c, rules.singleton(), delivery, Objects.requireNonNull(arrival.keys().single()));
    }

    private @Nullable Outcome rate(Connection c, Trigger.Rate rule, DeliveryRow delivery, String key, Instant now)
            throws SQLException {
        Duration period = Duration.ofSeconds(rule.periodSeconds());
        Instant edge = flow.admitted(c, delivery.triggerId(), key, rule.limit()).orElse(null);
        if (edge == null || !edge.plus(period).isAfter(now)) {
            flow.admit(c, delivery.id(), key);
            return null;
        }
        String message = rule.limit() + " events are admitted in " + rule.periodSeconds() + " s";
        return rule.over().equals("drop") ? Outcome.dropped("RATE_LIMITED", message)
                : Outcome.postponed("RATE_LIMITED", message, Duration.between(now, edge.plus(period)));
    }

    /** Null if the delivery starts the run of its group; others of the group are merged with it. */
    private @Nullable Outcome group(Connection c, Flow rules, DeliveryRow delivery, String key, Instant now,
            List<Outcome> decided) throws SQLException {
        flow.join(c, delivery.id(), key);
        List<FlowStore.Member> members = flow.members(c, delivery.triggerId(), key);
        Trigger.Batch batch = rules.batch();
        Instant due = batch == null ? FlowTimes.debounced(Objects.requireNonNull(rules.debounce()), members)
                : FlowTimes.batched(batch, members, now);
        if (due.isAfter(now)) {
            return Outcome.postponed(batch == null ? "DEBOUNCED" : "BATCHED", "it waits for further events",
                    Duration.between(now, due));
        }
        List<FlowStore.Member> formed = batch == null ? members : FlowTimes.first(batch, members, MAX_BATCH_BYTES);
        FlowStore.Member starter = batch == null ? formed.getLast() : formed.getFirst();
        flow.form(c, starter.id());
        for (FlowStore.Member each : formed) {
            if (!each.id().equals(starter.id())) {
                flow.merge(c, each.id(), starter.runId());
                decided.add(Outcome.merged(starter.runId()));
            }
        }
        if (starter.id().equals(delivery.id())) {
            return null;
        }
        // Without an effect on a delivery that was merged: it is not pending any more.
        return Outcome.postponed("BATCHED", "it waits for further events", Duration.ZERO);
    }

    private @Nullable Outcome singleton(Connection c, Trigger.Singleton rule, DeliveryRow delivery, String key)
            throws SQLException, InterruptedException {
        Map<UUID, UUID> open = new HashMap<>();
        flow.atWork(c, delivery.triggerId(), key).forEach(each -> open.put(each.runId(), each.id()));
        Map<UUID, RunReader.Progress> progress = reader.progress(c, Set.copyOf(open.keySet()));
        for (UUID run : Set.copyOf(open.keySet())) {
            RunReader.Progress found = progress.get(run);
            if (found != null && found.ended()) {
                flow.free(c, Objects.requireNonNull(open.remove(run)));
            }
        }
        if (!open.isEmpty() && rule.over().equals("skip")) {
            return Outcome.dropped("SINGLETON_OPEN", "a run of the key is open: " + open.keySet().iterator().next());
        }
        if (!open.isEmpty() && rule.over().equals("queue")) {
            return Outcome.postponed("SINGLETON_OPEN", "it waits for run " + open.keySet().iterator().next(),
                    SINGLETON_POLL);
        }
        for (Map.Entry<UUID, UUID> each : open.entrySet()) {
            if (!cancelled(each.getKey())) {
                return Outcome.postponed("SINGLETON_OPEN", "it waits for run " + each.getKey() + " to start",
                        SINGLETON_POLL);
            }
            flow.free(c, each.getValue());
        }
        flow.occupy(c, delivery.id(), key);
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
