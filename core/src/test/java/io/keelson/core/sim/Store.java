package io.keelson.core.sim;

import io.keelson.core.decide.AgentRow;
import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.ChangeSet.Artifact;
import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.ChangeSet.StepResult;
import io.keelson.core.decide.RunRow;
import io.keelson.core.decide.RunView;
import io.keelson.core.decide.StepRow;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.decide.ViewDiff;
import io.keelson.core.money.Bank;
import io.keelson.core.money.Prices;
import io.keelson.core.run.EngineOutage;
import io.keelson.core.run.Event;
import io.keelson.core.run.NewRun;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The database: atomic commits that prove the views they were decided on, and every law looked after at each of them. */
final class Store {
    private final Map<UUID, RunRows> runs = new TreeMap<>();
    private final Map<UUID, UUID> runOf = new HashMap<>();
    /** What workspaces have; null where everything can be paid. */
    private final Bank bank;
    private final Prices prices;
    final Provider provider = new Provider();
    final CallServer server = new CallServer();
    /** Times without any node, recorded by the first node that starts afterwards. */
    final List<EngineOutage> outages = new ArrayList<>();
    private Instant lastSeen;

    /** What became of a commit. */
    enum Outcome {
        WRITTEN,
        /** A view was not current; nothing was done. */
        STALE,
        /** A workspace has not got what it would take; likewise. */
        INSUFFICIENT_CREDITS
    }

    Store(Bank bank, Prices prices) {
        this.bank = bank;
        this.prices = prices;
    }

    /** A node lives. */
    void beat(Instant now) {
        lastSeen = now;
    }

    /**
     * A node starts, and checks how long no node has been seen.
     *
     * @return true when no node was seen for longer than {@code silence}
     */
    boolean arrived(Duration silence, Instant now) {
        boolean outage = lastSeen != null && lastSeen.isBefore(now.minus(silence));
        if (outage) {
            outages.add(new EngineOutage(lastSeen, now));
        }
        beat(now);
        return outage;
    }

    Collection<RunRows> runs() {
        return runs.values();
    }

    /** Null when there is no such run. */
    RunRows run(UUID id) {
        return runs.get(id);
    }

    /** A view of the run as the store has it now. */
    RunView load(UUID run, Instant now) {
        return load(runs.get(run), now);
    }

    private RunView load(RunRows rows, Instant now) {
        RunView view = rows.load(now);
        outages.stream().filter(outage -> outage.to().isAfter(rows.created)).forEach(view::add);
        return view;
    }

    /** Replaces the rows of the same run: for what is written beside commits, and for explorations. */
    void put(RunRows rows) {
        runs.put(rows.id(), rows);
        rows.agents.keySet().forEach(id -> runOf.put(id, rows.id()));
        rows.tasks.keySet().forEach(id -> runOf.put(id, rows.id()));
        rows.steps.keySet().forEach(id -> runOf.put(id, rows.id()));
        rows.proposals.keySet().forEach(id -> runOf.put(id, rows.id()));
    }

    /**
     * Extends a lease: no commit, and no proof of anything.
     *
     * @return its holder
     */
    String extend(UUID runId, Lane lane, Instant now) {
        return runs.get(runId).queue.computeIfPresent(lane, (key, place) -> place.extended(now)).item().holder();
    }

    /**
     * Writes everything or nothing.
     *
     * @param untouched views on which something was answered without a change
     * @param node whose slots of balances change; null when all slots are locked
     * @param decided the time that the decisions were given
     */
    Outcome commit(ChangeSet changes, Collection<RunView> untouched, @Nullable Integer node, Instant decided,
            Instant now) {
        if (!current(changes, untouched)) {
            return Outcome.STALE;
        }
        if (bank != null && !bank.covers(changes, node)) {
            return Outcome.INSUFFICIENT_CREDITS;
        }
        Map<UUID, RunRows> drafts = new Drafts().of(changes, decided, now);
        drafts.forEach((id, after) -> {
            List<Event> events = changes.events().stream().filter(event -> event.runId().equals(id)).toList();
            new Laws(runs.get(id), after, events, prices, outages).check();
            UndoneChildren.check(runs.get(id), after, child -> drafts.getOrDefault(child, runs.get(child)));
            provider.check(after);
            server.check(events);
            if (changes.runs().stream().noneMatch(run -> run.id().equals(id))) {
                String difference = ViewDiff.between(load(runs.get(id), now), load(after, now));
                Violation.unless(difference == null, "changed under the same version: %s", difference);
            }
        });
        drafts.values().forEach(this::put);
        changes.runs().forEach(RunRow::saved);
        if (bank != null) {
            bank.commit(changes, node);
            bank.check(this::openCharges);
        }
        return Outcome.WRITTEN;
    }

    private BigDecimal openCharges(UUID workspace) {
        return runs.values().stream().filter(rows -> rows.accepted.workspaceId().equals(workspace))
                .map(rows -> rows.head.charged()).reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    private boolean current(ChangeSet changes, Collection<RunView> untouched) {
        for (RunRow run : changes.runs()) {
            RunRows rows = runs.get(run.id());
            if (changes.isNew(run.id()) ? rows != null : rows.head.version() != run.version() - 1) {
                return false;
            }
        }
        return untouched.stream().allMatch(
                view -> runs.get(view.run().id()).head.version() == view.run().version());
    }

    /** Copies of the rows that a commit touches, edited. */
    private final class Drafts {
        private final Map<UUID, RunRows> drafts = new LinkedHashMap<>();
        private final Map<UUID, UUID> newRunOf = new HashMap<>();

        private RunRows draft(UUID run) {
            return drafts.computeIfAbsent(run, id -> new RunRows(runs.get(id)));
        }

        private RunRows owner(UUID row) {
            UUID run = newRunOf.getOrDefault(row, runOf.get(row));
            Violation.unless(run != null, "a row to change is not there: %s", row);
            return draft(run);
        }

        private Map<UUID, RunRows> of(ChangeSet changes, Instant decided, Instant now) {
            runs(changes, decided, now);
            inserts(changes);
            updates(changes);
            rare(changes);
            work(changes, decided, now);
            changes.folded().forEach(this::fold);
            return drafts;
        }

        private void runs(ChangeSet changes, Instant decided, Instant now) {
            for (NewRun run : changes.newRuns()) {
                drafts.put(run.id(), new RunRows(run, decided));
            }
            for (RunRow run : changes.runs()) {
                RunRows rows = draft(run.id());
                rows.head = Saved.Head.of(run);
                if (changes.isNew(run.id()) || changes.parents().contains(run)) {
                    rows.parent = run.parent();
                }
                if (run.unsaved() || rows.run == null) {
                    rows.run = Saved.Run.of(run, now);
                }
            }
        }

        private void inserts(ChangeSet changes) {
            for (AgentRow agent : changes.newAgents()) {
                ChangeSet.Owner owner = own(changes, agent, agent.id());
                draft(owner.run().id()).agents.put(agent.id(), Saved.Agent.of(agent, owner.attempt()));
            }
            for (TaskRow task : changes.newTasks()) {
                ChangeSet.Owner owner = own(changes, task, task.id());
                draft(owner.run().id()).tasks.put(task.id(), Saved.Task.of(task, owner.attempt()));
            }
            for (StepRow step : changes.newSteps()) {
                ChangeSet.Owner owner = own(changes, step, step.id());
                draft(owner.run().id()).steps.put(step.id(), Saved.Step.of(step, owner.attempt()));
            }
        }

        private void fold(TaskRow round) {
            RunRows rows = owner(round.id());
            Saved.Task task = rows.tasks.get(round.id());
            Violation.unless(task.state().terminal() && rows.tasks.get(task.groupId()).isLoop(),
                    "not an ended round: %s",
                    task);
            Violation.unless(rows.folded.add(task.id()), "folded twice: %s", task);
        }

        private ChangeSet.Owner own(ChangeSet changes, Object row, UUID id) {
            ChangeSet.Owner owner = changes.ownerOf(row);
            newRunOf.put(id, owner.run().id());
            return owner;
        }

        private void updates(ChangeSet changes) {
            changes.agents().forEach(agent -> change(owner(agent.id()).agents, agent.id(),
                    old -> Saved.Agent.of(agent, old.ofAttempt())));
            changes.tasks().forEach(task -> change(owner(task.id()).tasks, task.id(), old -> old.changed(task)));
            changes.steps().forEach(step -> change(owner(step.id()).steps, step.id(),
                    old -> Saved.Step.of(step, old.ofAttempt())));
        }

        private void rare(ChangeSet changes) {
            changes.links().stream().filter(link -> !changes.newTasks().contains(link.task())).forEach(
                    link -> change(owner(link.task().id()).tasks, link.task().id(),
                            old -> old.linked(link.upstream().id())));
            changes.plans().forEach(plan -> draft(plan.run().id()).plan = RandomPlans.read(plan.json()));
            changes.transfers().forEach(transfer -> draft(transfer.runId()).ledger.add(transfer));
            changes.attempts().forEach(attempt -> draft(attempt.runId()).attempts.put(attempt.number(), attempt));
            changes.newTickets().forEach(t -> draft(t.run().id()).tickets.put(t.row().id(), Saved.Ticket.of(t.row())));
            changes.tickets().forEach(t -> change(draft(t.run().id()).tickets, t.row().id(),
                    old -> Saved.Ticket.of(t.row())));
            changes.budgets().forEach(each -> draft(each.run().id()).budgets.put(each.row().task(), each.row()));
            changes.children().forEach(child -> draft(child.run().id()).children.put(child.row().stepId(),
                    child.row()));
            changes.undos().forEach(undo -> draft(undo.run().id()).undo = undo.row());
            changes.votes().forEach((key, vote) -> {
                draft(key.runId()).votes.remove(key);
                vote.ifPresent(given -> draft(key.runId()).votes.put(key, given.row()));
            });
            changes.newSignals().forEach(s -> {
                Saved.Sent earlier = draft(s.run().id()).signals.putIfAbsent(s.signal().id(), Saved.Sent.of(s));
                Violation.unless(earlier == null, "two signals of one id: %s", s);
            });
            changes.proposals().forEach(p -> {
                newRunOf.put(p.made().id(), p.runId());
                draft(p.runId()).proposals.put(p.made().id(), new Saved.Proposed(p, null));
            });
            changes.proposalEnds().forEach(end -> change(owner(end.id()).proposals, end.id(), old -> old.ended(end)));
            changes.calls().forEach(call -> draft(call.run().id()).waits.merge(call.step().id(),
                    new Saved.Wait(call.now(), call.epoch(), null), Saved.Wait::then));
            changes.callAnswers().forEach(answer -> change(owner(answer.stepId()).waits, answer.stepId(),
                    old -> old.answered(answer)));
            changes.forgottenCalls().forEach(step -> owner(step).waits.remove(step));
            changes.newRequests().forEach(each -> draft(each.run().id()).requests.put(each.open().id(),
                    new Saved.Asked(each.step().id(), each.open())));
            changes.endedRequests()
                    .forEach(each -> drafts.values().forEach(rows -> rows.requests.remove(each.id())));
            changes.takenSignals().forEach(s -> change(owner(s.stepId()).signals, s.id(), old -> old.taken(s)));
        }

        private <R> void change(Map<UUID, R> table, UUID id, UnaryOperator<R> change) {
            table.computeIfPresent(id, (key, old) -> change.apply(old));
        }

        private void work(ChangeSet changes, Instant decided, Instant now) {
            changes.clearedRuns().forEach(run -> {
                draft(run).queue.clear();
                draft(run).timers.clear();
            });
            changes.queue().forEach((lane, item) -> item.ifPresentOrElse(
                    i -> draft(i.runId()).queue.put(lane, Saved.Place.of(i, decided, now)),
                    () -> owner(lane.taskId()).queue.remove(lane)));
            changes.handledTimers().forEach(timer -> armedIn(timer.key()).map(this::draft).ifPresent(
                    rows -> rows.timers.computeIfPresent(timer.key(),
                            (key, armed) -> armed.dueAt().equals(timer.dueAt()) ? null : armed)));
            changes.timers().forEach((key, timer) -> timer.ifPresentOrElse(t -> draft(t.runId()).timers.put(key, t),
                    () -> armedIn(key).ifPresent(run -> draft(run).timers.remove(key))));
            for (StepResult result : changes.results()) {
                draft(result.runId()).calls.merge(
                        new RunRows.ResultKey(result.stepId(), result.epoch()), new Saved.Call(result, decided),
                        (earlier, more) -> {
                            Violation.unless(
                                    result.outcome().equals("lost") && !earlier.result().outcome().equals("completed"),
                                    "two results of one lease: %s and %s", earlier, result);
                            return new Saved.Call(earlier.result().with(result), earlier.at());
                        });
            }
            for (Artifact artifact : changes.artifacts()) {
                RunRows rows = draft(artifact.runId());
                UUID earlier = rows.artifacts.put(
                        new RunRows.ArtifactKey(artifact.attempt(), artifact.stored().name()), artifact.stepId());
                Violation.unless(artifact.replaces() == (earlier != null), "wrong successor: %s", artifact);
                Violation.unless(
                        earlier == null || earlier.equals(artifact.stepId())
                                || rows.isReplaced(earlier, artifact.stepId()),
                        "two artifacts of one name: %s", artifact);
            }
        }

        /** A timer that is not there is as good as disarmed. */
        private Optional<UUID> armedIn(ChangeSet.TimerKey key) {
            return Stream.concat(drafts.values().stream(), runs.values().stream())
                    .filter(rows -> rows.timers.containsKey(key)).map(RunRows::id).findFirst();
        }
    }
}
