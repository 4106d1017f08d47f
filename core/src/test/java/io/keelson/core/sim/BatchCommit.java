package io.keelson.core.sim;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.Created;
import io.keelson.core.decide.Decider;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.RunView;
import io.keelson.core.money.CreditBalances;
import io.keelson.core.money.Funds;
import io.keelson.core.money.OptimisticBalances;
import io.keelson.core.run.Command;
import io.keelson.core.run.Event;
import io.keelson.core.run.Reply;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** One batch decided on a node's views, to be written in one commit. */
final class BatchCommit {
    final List<PendingCommand> batch;
    final boolean locked;
    final ChangeSet changes = new ChangeSet();
    private final Node node;
    private final Instant now;
    private final Set<UUID> loaded;
    private final int slots;
    private final List<UUID> ids = new ArrayList<>();
    private final Funds funds;

    /**
     * @param loaded runs whose views have just been loaded
     * @param balances what workspaces have, as far as the node knows
     */
    BatchCommit(Node node, List<PendingCommand> batch, Instant now, boolean locked, Set<UUID> loaded,
            CreditBalances balances) {
        this.node = node;
        this.batch = batch;
        this.now = now;
        this.locked = locked;
        this.loaded = loaded;
        this.slots = node.slots();
        this.funds = new Funds(node.sim.prices, balances);
        LocalCapacity capacity = Node.offer(node.name(), slots);
        batch.forEach(pendingCommand -> decide(pendingCommand, capacity));
    }

    /** Where a batch ends early, as the server's do: a retry needs a view that was loaded when its run had failed. */
    static int cut(List<PendingCommand> batch) {
        Set<UUID> before = new HashSet<>();
        for (int i = 0; i < batch.size(); i++) {
            UUID run = batch.get(i).command.runId();
            if (batch.get(i).command instanceof Command.Retry && before.contains(run)) {
                return i;
            }
            before.add(run);
        }
        return batch.size();
    }

    private void decide(PendingCommand pendingCommand, LocalCapacity capacity) {
        Command command = pendingCommand.command;
        int seen = changes.events().size();
        RunView view = node.views.get(command.runId());
        if (command instanceof Command.Create create) {
            pendingCommand.reply = Reply.UNCHANGED;
            if (view == null) {
                Created created = create(pendingCommand.executed, create, capacity);
                pendingCommand.reply = created.reply();
                if (created.view() != null) {
                    node.views.put(command.runId(), created.view());
                }
            }
        } else if (view == null) {
            pendingCommand.reply = null;
        } else {
            pendingCommand.reply = Decider.decide(view, command, changes, now, this::nextId, capacity, funds);
        }
        pendingCommand.events = decided(command, pendingCommand.reply, seen);
        Command report = pendingCommand.report();
        RunView created = node.views.get(command.runId());
        pendingCommand.reportReply = null;
        if (report != null && created != null) {
            int before = changes.events().size();
            pendingCommand.reportReply =
                    Decider.decide(created, report, changes, now, this::nextId, capacity, funds);
            pendingCommand.events.addAll(decided(report, pendingCommand.reportReply, before));
            if (pendingCommand.reply.equals(Reply.CHANGED)) {
                node.sim.coverage.happened(DraftedRun.IN_ONE_COMMIT);
            }
        }
    }

    /** Steps that were executed before this commit keep the ids and the slot of their execution. */
    private Created create(BatchListener.@Nullable FirstSteps executed, Command.Create create, LocalCapacity capacity) {
        if (executed == null) {
            return Decider.create(create, changes, now, this::nextId, capacity, funds);
        }
        Iterator<UUID> drawn = executed.ids().iterator();
        capacity.executes(executed.tool());
        Created created =
                Decider.create(create, changes, now, () -> drawn.hasNext() ? drawn.next() : nextId(), capacity,
                        funds);
        capacity.executes(null);
        return created;
    }

    /** @param seen the number of events before the decision */
    private List<Event> decided(Command command, Reply reply, int seen) {
        List<Event> events = new ArrayList<>(changes.events().subList(seen, changes.events().size()));
        ReplyDurability.fenced(command, events);
        node.sim.coverage.decided(command);
        node.sim.tell(node.name(), command, code(reply), events.stream().map(BatchCommit::brief).toList());
        Violation.unless(events.isEmpty() || !silent(reply), "%s was answered %s and yet %s", command, reply, events);
        return events;
    }

    private UUID nextId() {
        ids.add(node.sim.nextId());
        return ids.getLast();
    }

    /** A refusal and an answer that nothing changed leave no event; but some results that are refused fail the step. */
    private static boolean silent(Reply reply) {
        return switch (reply) {
            case null -> true;
            case Reply.Done done -> !done.changed();
            case Reply.Claimed claimed -> false;
            case Reply.Duplicate duplicate -> true;
            case Reply.Metered metered -> false;
            case Reply.Taken taken -> false;
            case Reply.Paid paid -> false;
            case Reply.Rejected rejected -> !List.of("ARTIFACT_NAME_TAKEN", "VERDICT_UNREADABLE", "TURN_UNREADABLE")
                    .contains(rejected.code());
        };
    }

    private static String code(Reply reply) {
        return switch (reply) {
            case null -> "no such run";
            case Reply.Done done -> done.changed() ? "changed" : "unchanged";
            case Reply.Claimed claimed -> "claimed";
            case Reply.Duplicate duplicate -> "duplicate";
            case Reply.Metered metered -> "metered";
            case Reply.Taken taken -> "taken " + taken.reports();
            case Reply.Paid paid -> "paid " + paid.maxOutput();
            case Reply.Rejected rejected -> rejected.code();
        };
    }

    private static String brief(Event event) {
        return "r" + event.runId().getLeastSignificantBits() + "#" + event.seq() + " " + event.type().wire();
    }

    /** Notes a fault that all of the batch's transitions met. */
    void met(Fault fault) {
        batch.forEach(pendingCommand -> node.sim.coverage.met(pendingCommand.events, Set.of(fault)));
    }

    Store.Outcome write() {
        if (!locked && !inTime()) {
            return Store.Outcome.STALE;
        }
        boolean nothing = changes.runs().isEmpty() && changes.timers().isEmpty() && changes.queue().isEmpty();
        Store.Outcome outcome = nothing && locked ? Store.Outcome.WRITTEN
                : node.sim.store.commit(changes, untouched(), slotOf(), now, node.sim.now());
        if (outcome == Store.Outcome.WRITTEN) {
            node.sim.batchListener
                    .committed(new BatchListener.Batch(node.name(), batch.stream().map(each -> each.command).toList(),
                            batch.stream().map(each -> each.executed).toList(), loaded, locked, now, slots, ids,
                            batch.stream().map(each -> each.reply).toList(),
                            batch.stream().map(each -> each.reportReply).toList(), changes.events()));
            batch.forEach(pendingCommand -> node.sim.coverage.committed(pendingCommand.events));
            node.sim.tell(node.name(), "committed", changes.events().size());
        }
        return outcome;
    }

    /** The node by whose number slots of balances are chosen; null when all are locked, and so known. */
    private @Nullable Integer slotOf() {
        return funds.balances() instanceof OptimisticBalances ? node.number : null;
    }

    /** Whether the node is wrong about the time by no more than the store puts up with. */
    private boolean inTime() {
        return Duration.between(now, node.sim.now()).abs().compareTo(TimeLaws.WRONG) <= 0;
    }

    private List<RunView> untouched() {
        Set<UUID> left = new TreeSet<>();
        batch.forEach(pendingCommand -> left.add(pendingCommand.command.runId()));
        Set<UUID> written = new HashSet<>();
        changes.runs().forEach(run -> written.add(run.id()));
        left.removeAll(written);
        return left.stream().map(node.views::get).filter(Objects::nonNull).toList();
    }
}
