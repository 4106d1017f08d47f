package io.keelson.core.sim;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.ChangeSet.Evaluate;
import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.RunView;
import io.keelson.core.decide.ViewDiff;
import io.keelson.core.money.OptimisticBalances;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.StepAssignment;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * Models a server node. It collects commands into batches, decides them on cached views without a lock, and commits them
 * with the views' versions as proof. It decides a refused batch again on views from the store. A crash clears its memory;
 * a pause stops it.
 */
final class Node {
    private static final int LANES = 6;
    private static final int TRIES = 5;
    private static final int MAX_AT_ONCE = 6;

    final Simulation sim;
    final Map<UUID, RunView> views = new HashMap<>();
    final int number;
    private final Deque<PendingCommand> waiting = new ArrayDeque<>();
    private final List<PendingCommand> underWay = new ArrayList<>();
    /** What is left of a batch that was split. */
    private final Deque<List<PendingCommand>> halves = new ArrayDeque<>();
    private int life;
    private Instant standsUntil = Instant.MIN;
    private Instant deadUntil = Instant.MIN;
    /** A view tells of the outages that there were when it was loaded. */
    private int outagesKnown;
    private boolean up;
    /** True while something is done that a pause has held up. */
    private boolean late;
    private boolean committing;
    private Duration skew = Duration.ZERO;
    private Executor executor;

    Node(Simulation sim, int number) {
        this.sim = sim;
        this.number = number;
        boot();
        sim.in(sim.between(0, 20_000), this::trouble);
    }

    /** As leases record it: another after every start. */
    String name() {
        return "n" + number + "." + life;
    }

    private void boot() {
        life++;
        up = true;
        standsUntil = Instant.MIN;
        skew = sim.faultRates.skew();
        executor = new Executor(this);
        sim.tell(name(), "up, skew", skew);
        sim.arrived(Maintenance.SILENCE);
        new Maintenance(this, executor).start();
    }

    /** Crashes or pauses the node from time to time. */
    private void trouble() {
        if (sim.faultRates.calm()) {
            return;
        }
        if (up && sim.chance(25)) {
            crash();
        } else if (up && sim.chance(40)) {
            pause(sim.between(200, sim.chance(50) ? 3_000 : 80_000));
        }
        sim.in(sim.between(1_000, 30_000), this::trouble);
    }

    void recover() {
        standsUntil = Instant.MIN;
        skew = Duration.ZERO;
        if (!up) {
            boot();
        }
    }

    /** It is killed and not started again before then. */
    void dieUntil(Instant time) {
        deadUntil = time;
        if (up) {
            die();
        }
        sim.at(time, this::bootIfDown);
    }

    private void bootIfDown() {
        if (!up && !sim.now().isBefore(deadUntil)) {
            boot();
        }
    }

    private void crash() {
        die();
        sim.in(sim.between(200, 20_000), this::bootIfDown);
    }

    private void die() {
        sim.tell(name(), "crashes with", waiting.size() + underWay.size());
        life++;
        up = false;
        committing = false;
        views.clear();
        waiting.clear();
        underWay.clear();
        halves.clear();
    }

    private void pause(Duration length) {
        sim.tell(name(), "pauses for", length);
        standsUntil = sim.now().plus(length);
        waiting.forEach(pendingCommand -> pendingCommand.met.add(Fault.NODE_PAUSED));
        underWay.forEach(pending -> pending.met.add(Fault.NODE_PAUSED));
    }

    /** Does something after a while unless the node's memory goes before; a pause holds it up. */
    void later(Duration delay, Runnable action) {
        int born = life;
        sim.in(delay, () -> inLife(born, action, false));
    }

    private void inLife(int born, Runnable action, boolean heldUp) {
        if (born != life || !up) {
            return;
        }
        if (sim.now().isBefore(standsUntil)) {
            sim.at(standsUntil, () -> inLife(born, action, true));
            return;
        }
        late = heldUp;
        action.run();
        late = false;
    }

    /** A command from outside; lost while the node is down. */
    void receive(Command command, Set<Fault> met, Consumer<Reply> answer) {
        int born = life;
        inLife(born, () -> {
            DraftedRun drafted = command instanceof Command.Create create ? DraftedRun.of(this, create) : null;
            if (drafted == null) {
                submit(command, met, answer);
            } else {
                executor.draft(drafted, executed -> submit(new PendingCommand(command, executed, answer), met));
            }
        }, false);
    }

    void submit(Command command, Set<Fault> met, Consumer<Reply> answer) {
        submit(new PendingCommand(command, null, answer), met);
    }

    private void submit(PendingCommand pendingCommand, Set<Fault> met) {
        pendingCommand.met.addAll(met);
        if (late) {
            pendingCommand.met.add(Fault.NODE_PAUSED);
        }
        waiting.add(pendingCommand);
        commitSoon();
    }

    /** A command of the node's own, which may be lost or come twice or late as any other. */
    void own(Command command) {
        own(command, reply -> {
        });
    }

    /** The same, with the reply. */
    void own(Command command, Consumer<Reply> answer) {
        int born = life;
        sim.carry(met -> inLife(born, () -> submit(command, met, answer), false));
    }

    private void commitSoon() {
        if (!committing && !waiting.isEmpty()) {
            committing = true;
            later(Duration.ofMillis(sim.random.nextInt(4)), () -> {
                for (int i = 1 + sim.random.nextInt(MAX_AT_ONCE); i > 0 && !waiting.isEmpty(); i--) {
                    underWay.add(waiting.poll());
                }
                attempt(new ArrayList<>(underWay), 1);
            });
        }
    }

    private void attempt(List<PendingCommand> all, int tried) {
        int cut = BatchCommit.cut(all);
        List<PendingCommand> batch = new ArrayList<>(all.subList(0, cut));
        if (cut < all.size()) {
            halves.push(new ArrayList<>(all.subList(cut, all.size())));
        }
        if (!atHand(batch)) {
            locked(batch, tried, false);
            return;
        }
        OptimisticBalances balances = new OptimisticBalances();
        BatchCommit batchCommit = new BatchCommit(this, batch, sim.now().plus(skew), false, Set.of(), balances);
        if (balances.needsLock()) {
            forget(batch);
            locked(batch, tried, true);
            return;
        }
        if (sim.faultRates.strikes(Fault.NODE_PAUSED)) {
            pause(sim.between(100, sim.chance(80) ? 2_000 : 50_000));
        }
        later(Duration.ofMillis(1 + sim.random.nextInt(sim.chance(10) ? 400 : 6)),
                () -> conclude(batchCommit, tried, false));
    }

    /**
     * Decides under the runs' locks, by the store's time, without concurrent commits.
     *
     * @param looking true when the balances are locked, too, and known
     */
    private void locked(List<PendingCommand> batch, int tried, boolean looking) {
        Set<UUID> loaded = new HashSet<>();
        if (outagesKnown != sim.store.outages.size()) {
            views.clear();
            outagesKnown = sim.store.outages.size();
        }
        batch.forEach(pendingCommand -> {
            RunRows rows = sim.store.run(pendingCommand.command.runId());
            RunView view = views.get(pendingCommand.command.runId());
            if (rows != null && (view == null || view.run().version() != rows.head.version())) {
                views.put(rows.id(), sim.store.load(rows.id(), sim.now()));
                loaded.add(rows.id());
            }
        });
        OptimisticBalances trusting = new OptimisticBalances();
        BatchCommit batchCommit =
                new BatchCommit(this, batch, sim.now(), true, loaded, looking ? sim.bank.balances() : trusting);
        if (trusting.needsLock()) {
            forget(batch);
            locked(batch, tried, true);
        } else {
            conclude(batchCommit, tried, looking);
        }
    }

    private boolean atHand(List<PendingCommand> batch) {
        Set<UUID> created = new HashSet<>();
        for (PendingCommand pendingCommand : batch) {
            UUID run = pendingCommand.command.runId();
            if (pendingCommand.command instanceof Command.Create) {
                created.add(run);
            } else if (pendingCommand.command instanceof Command.TimerDue
                    || !views.containsKey(run) && !created.contains(
                            run)) {
                return false;
            }
        }
        return true;
    }

    /** How many lanes it can take at once; now and then it lets others go first. */
    int slots() {
        return sim.chance(30) ? 0 : free();
    }

    static LocalCapacity offer(String name, int slots) {
        return new LocalCapacity(name, tool -> tool.startsWith(RandomPlans.LOCAL), Simulation.LEASE, slots);
    }

    int free() {
        return Math.max(0, LANES - executor.size());
    }

    private void conclude(BatchCommit batchCommit, int tried, boolean looked) {
        if (sim.faultRates.strikes(Fault.CRASH_BEFORE_COMMIT)) {
            batchCommit.met(Fault.CRASH_BEFORE_COMMIT);
            crash();
        } else if (sim.faultRates.strikes(Fault.COMMIT_ABORTED)) {
            refused(batchCommit, Fault.COMMIT_ABORTED, tried);
        } else {
            written(batchCommit, batchCommit.write(), tried, looked);
        }
    }

    private void written(BatchCommit batchCommit, Store.Outcome outcome, int tried, boolean looked) {
        if (outcome == Store.Outcome.STALE) {
            batchCommit.met(Fault.VIEW_STALE);
            forget(batchCommit.batch);
            Violation.unless(!batchCommit.locked, "a concurrent commit under the lock");
            locked(batchCommit.batch, tried, false);
        } else if (outcome == Store.Outcome.INSUFFICIENT_CREDITS) {
            forget(batchCommit.batch);
            Violation.unless(!looked, "what was there was known");
            locked(batchCommit.batch, tried, true);
        } else if (sim.faultRates.strikes(Fault.COMMIT_UNANSWERED)) {
            refused(batchCommit, Fault.COMMIT_UNANSWERED, tried);
        } else if (sim.faultRates.strikes(Fault.CRASH_AFTER_COMMIT)) {
            batchCommit.met(Fault.CRASH_AFTER_COMMIT);
            crash();
        } else {
            committed(batchCommit);
        }
    }

    /** The database said no, or nothing: everything is decided again, by halves where the transaction is known to be gone. */
    private void refused(BatchCommit batchCommit, Fault fault, int tried) {
        sim.tell(name(), fault, "try", tried);
        batchCommit.met(fault);
        forget(batchCommit.batch);
        if (tried == TRIES) {
            done(batchCommit.batch);
        } else if (fault == Fault.COMMIT_ABORTED && batchCommit.batch.size() > 1) {
            int half = batchCommit.batch.size() / 2;
            halves.push(new ArrayList<>(batchCommit.batch.subList(half, batchCommit.batch.size())));
            later(Duration.ZERO, () -> attempt(new ArrayList<>(batchCommit.batch.subList(0, half)), 1));
        } else {
            later(Duration.ofMillis(200L * tried), () -> attempt(batchCommit.batch, tried + 1));
        }
    }

    private void forget(List<PendingCommand> batch) {
        batch.forEach(pendingCommand -> views.remove(pendingCommand.command.runId()));
    }

    private void committed(BatchCommit batchCommit) {
        batchCommit.batch.forEach(pendingCommand -> {
            if (!skew.isZero() && !batchCommit.locked) {
                pendingCommand.met.add(Fault.CLOCK_SKEWED);
            }
            sim.coverage.met(pendingCommand.events, pendingCommand.met);
        });
        check(batchCommit.changes);
        aftermath(batchCommit.changes);
        for (PendingCommand pending : batchCommit.batch) {
            if (sim.faultRates.strikes(Fault.ANSWER_DROPPED)) {
                sim.coverage.met(pending.events, Set.of(Fault.ANSWER_DROPPED));
            } else if (pending.reply != null) {
                pending.answer();
                if (pending.reportReply != null) {
                    ReplyDurability.keep(pending.report(), pending.reportReply,
                            sim.store.run(pending.command.runId()));
                }
            }
        }
        done(batchCommit.batch);
    }

    private void done(List<PendingCommand> batch) {
        underWay.removeAll(batch);
        if (!halves.isEmpty()) {
            attempt(halves.pop(), 1);
        } else {
            committing = false;
            commitSoon();
        }
    }

    /** The view that was edited equals one built from the rows that were written: nothing lives in memory only. */
    private void check(ChangeSet changes) {
        changes.runs().forEach(run -> {
            RunView kept = views.get(run.id());
            if (kept == null) {
                return;
            }
            String difference = ViewDiff.between(kept, sim.store.load(run.id(), sim.now()));
            Violation.unless(difference == null, "kept and loaded view differ: %s", difference);
            if (run.state().terminal()) {
                views.remove(run.id());
            }
        });
    }

    private void aftermath(ChangeSet changes) {
        changes.stopped().forEach(lost -> executor.stop(lost.stepId()));
        changes.started().forEach((step, run) -> {
            sim.granted(step.id(), step.leaseEpoch(), step.holder());
            if (name().equals(step.holder())) {
                executor.start(run.id(), step, changes.chainOf(step));
            }
        });
        changes.evaluations().forEach(asked -> later(sim.between(1, sim.chance(5) ? 8_000 : 30),
                () -> evaluate(asked)));
        changes.timers().values().forEach(timer -> timer.filter(t -> !t.key().kind().evaluation()).ifPresent(
                t -> later(Duration.between(sim.now(), t.dueAt()).isNegative() ? Duration.ZERO
                        : Duration.between(sim.now(), t.dueAt()),
                        () -> own(new Command.TimerDue(t.runId(), t.key().kind(), t.key().subject(), Actor.SYSTEM)))));
    }

    private void evaluate(Evaluate asked) {
        UUID child = Undos.childToUndo(sim.store.run(asked.runId()), asked);
        if (child == null) {
            answer(asked);
        } else {
            own(new Command.Undo(child, null, asked.runId(), Actor.SYSTEM), reply -> answer(asked));
        }
    }

    private void answer(Evaluate asked) {
        own(new Command.Evaluated(asked.runId(), asked.kind(), asked.subject(), Evaluations.answer(sim.store, asked),
                Actor.SYSTEM));
    }

    /** A worker asks for work: what the queue offers is claimed as anything else is decided. */
    void claimFor(String worker, Collection<String> tools, int most, Set<String> chained,
            Consumer<List<List<Held>>> answer) {
        List<List<Held>> held = new ArrayList<>();
        List<Lane> asked = new ArrayList<>();
        Maintenance.candidates(sim.store, tools::contains, most).forEach((lane, run) -> {
            asked.add(lane);
            submit(new Command.Claim(run, lane.taskId(), lane.lane(), worker, Simulation.LEASE, chained,
                    Actor.agent(worker)),
                    Set.of(), reply -> {
                        if (reply instanceof Reply.Claimed(StepAssignment assignment)) {
                            held.add(Held.chain(sim.store.run(run), assignment));
                        }
                    });
        });
        if (!asked.isEmpty()) {
            later(Duration.ofMillis(100), () -> answer.accept(held));
        }
    }
}
