package io.keelson.core.sim;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.EndRequest.Outcome;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Predicate;

/** A node's periodic tasks: extend leases, claim work, and find expired leases and due timers. */
final class Maintenance {
    private static final int HEARTBEAT_TICKS = 10;
    /** Longer than usual between two signs of life of a node. */
    static final Duration SILENCE = Simulation.TICK.multipliedBy(HEARTBEAT_TICKS).plusSeconds(5);
    private static final Duration OLD = Duration.ofMinutes(1);
    private static final Duration GRACE = Duration.ofSeconds(5);

    private final Node node;
    private final Executor executor;
    private int ticks;

    Maintenance(Node node, Executor executor) {
        this.node = node;
        this.executor = executor;
    }

    void start() {
        node.later(node.sim.between(0, 1_000), this::tick);
    }

    private void tick() {
        Simulation sim = node.sim;
        if (++ticks % HEARTBEAT_TICKS == 0) {
            keepLeases();
        }
        claim();
        for (RunRows rows : List.copyOf(sim.store.runs())) {
            lapsed(rows);
            timers(rows);
            stuck(rows);
            turn(rows);
            orphans(rows);
        }
        if (!sim.faultRates.calm() && sim.random.nextInt(400) == 0) {
            executor.handBack();
        }
        node.later(Simulation.TICK.plus(sim.between(-200, 200)), this::tick);
    }

    /** There is room under every concurrency key. */
    private void turn(RunRows rows) {
        if (rows.run.state() == RunState.PENDING) {
            node.own(new Command.Admit(rows.id(), Actor.RECONCILER));
        }
    }

    /** Closes requests of programs whose answers no server reads. */
    private void orphans(RunRows rows) {
        rows.requests.values().stream().filter(each -> each.open().sentAt().plus(OLD).isBefore(node.sim.now()))
                .forEach(each -> node.own(new Command.EndRequest(rows.id(), each.stepId(), each.open().id(),
                        Outcome.LOST, null, null, Actor.RECONCILER)));
    }

    private void keepLeases() {
        node.sim.store.beat(node.sim.now());
        for (RunRows rows : node.sim.store.runs()) {
            executor.lanes().stream().filter(lane -> {
                Saved.Place place = rows.queue.get(lane);
                return place != null && node.name().equals(place.item().holder());
            }).forEach(lane -> node.sim.extend(rows.id(), lane));
        }
    }

    private void claim() {
        candidates(node.sim.store, tool -> tool.startsWith(RandomPlans.LOCAL), node.free())
                .forEach((lane, run) -> node.own(new Command.Claim(run, lane.taskId(), lane.lane(), node.name(),
                        Simulation.LEASE, Actor.agent(node.name()))));
    }

    /** What may be claimed, in order of dispatch: lanes and their runs. */
    static Map<Lane, UUID> candidates(Store store, Predicate<String> tools, int most) {
        Map<Lane, UUID> found = new LinkedHashMap<>();
        store.runs().stream().flatMap(rows -> rows.queue.values().stream()).map(Saved.Place::item)
                .filter(item -> item.holder() == null && tools.test(item.tool()))
                .sorted(Comparator.comparing((io.keelson.core.decide.ChangeSet.QueueItem item) -> item.priority())
                        .thenComparing(item -> item.queuedAt()).thenComparing(item -> item.key().taskId()))
                .limit(most).forEach(item -> found.put(item.key(), item.runId()));
        return found;
    }

    private void lapsed(RunRows rows) {
        Instant now = node.sim.now();
        for (Saved.Step step : rows.stepsNow()) {
            Saved.Place place = rows.queue.get(rows.laneOf(step));
            if (step.state() != StepState.RUNNING || place == null || place.item().holder() == null) {
                continue;
            }
            if (place.expiresAt().isBefore(now)) {
                node.own(new Command.LeaseExpired(rows.id(), step.id(),
                        step.leaseEpoch(), Simulation.LEASE, step.id().getLeastSignificantBits() % 2 == 0,
                        node.sim.store.provider.taken(step.id(), step.leaseEpoch()), Actor.RECONCILER));
            } else if (place.deadline() != null && place.deadline().plus(GRACE).isBefore(now)) {
                node.own(new Command.Fail(rows.id(), step.id(), step.leaseEpoch(),
                        new StepError("STEP_TIMEOUT", ErrorClass.INFRASTRUCTURE, "too long"), Result.of("null"),
                        node.sim.store.provider.taken(step.id(), step.leaseEpoch()), Actor.RECONCILER));
            }
        }
    }

    private void timers(RunRows rows) {
        rows.timers.values().stream().filter(timer -> !timer.dueAt().isAfter(node.sim.now()))
                .forEach(timer -> node.own(new Command.TimerDue(rows.id(), timer.key().kind(), timer.key().subject(),
                        Actor.RECONCILER)));
    }

    /** A run that has been running for a minute and waits for nothing; in bad weather also one that does. */
    private void stuck(RunRows rows) {
        boolean old = rows.run.state() == RunState.RUNNING
                && rows.run.updatedAt().isBefore(node.sim.now().minus(OLD));
        boolean waits = rows.timers.keySet().stream().anyMatch(key -> key.kind() != TimerKind.WATCH)
                || rows.tasksNow().stream().anyMatch(task -> !task.state().terminal());
        if (old && !waits || !node.sim.faultRates.calm() && node.sim.random.nextInt(100) == 0) {
            node.own(new Command.Settle(rows.id(), Actor.RECONCILER));
        }
    }
}
