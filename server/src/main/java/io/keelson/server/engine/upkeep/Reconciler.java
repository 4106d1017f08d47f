package io.keelson.server.engine.upkeep;

import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TxFunction;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.commit.Observer;
import io.keelson.server.engine.execute.RecordedRequests;
import io.keelson.server.engine.store.RunStore;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/**
 * Finds unreported conditions from database state only, and submits commands that do nothing if they were handled
 * meanwhile. Any number of nodes may run it at once. Each duty is a step that a test can call.
 */
public final class Reconciler {
    private static final int BATCH_SIZE = 500;
    private static final int OPEN_RUN_BATCH_SIZE = 2_000;

    private final Database database;
    private final RunStore store;
    private final Function<Command, CompletableFuture<Reply>> commands;
    private final List<Observer> observers;
    private volatile RunStore.Place sweptTo = RunStore.Place.FIRST;

    public Reconciler(Database database, RunStore store, Function<Command, CompletableFuture<Reply>> commands,
            List<Observer> observers) {
        this.observers = observers;
        this.database = database;
        this.store = store;
        this.commands = commands;
    }

    /** Returns work with an expired lease to the queue, under a new epoch for the next holder. */
    int expiredLeases() {
        return act(Observer.Duty.LEASES, database.inTransaction(c -> store.expired(c, BATCH_SIZE)).stream()
                .map(Reconciler::lapsed)
                .toList());
    }

    private static Command lapsed(RunStore.Expired expired) {
        return expired.timedOut()
                ? new Command.Fail(expired.runId(), expired.stepId(), expired.epoch(),
                        new StepError("STEP_TIMEOUT", ErrorClass.INFRASTRUCTURE,
                                "the step took longer than its timeout"),
                        Result.of("null"), RecordedRequests.in(expired.details()), Actor.RECONCILER)
                : new Command.LeaseExpired(expired.runId(), expired.stepId(), expired.epoch(),
                        expired.lease(), expired.unserved(), RecordedRequests.in(expired.details()), Actor.RECONCILER);
    }

    /**
     * Handles due timers that no node had in memory. Deletes timers of deleted runs, which a child or a parent may have
     * armed since.
     */
    int dueTimers() {
        List<RunStore.DueTimer> due = database.withConnection(c -> store.dueTimers(c, BATCH_SIZE));
        List<CompletableFuture<Reply>> answers = due.stream().map(t -> commands
                .apply(new Command.TimerDue(t.runId(), t.kind(), t.subject(), Actor.RECONCILER))).toList();
        Set<UUID> gone = new TreeSet<>();
        for (int i = 0; i < due.size(); i++) {
            try {
                answers.get(i).join();
            } catch (CompletionException e) {
                if (!(e.getCause() instanceof Commands.RunNotFound)) {
                    throw e;
                }
                gone.add(due.get(i).runId());
            }
        }
        if (!gone.isEmpty()) {
            database.runInTransaction(c -> store.disarm(c, gone));
        }
        observers.forEach(each -> each.repaired(Observer.Duty.TIMERS, due.size()));
        return due.size();
    }

    /** Executes a small query. */
    interface Reader {
        <T> T read(TxFunction<T> query);
    }

    /** Handles running runs whose tasks have all ended, among the next batch of open runs. */
    int stuckJoins(Reader reader) {
        RunStore.Sweep sweep = reader.read(c -> store.stuckJoins(c, sweptTo, OPEN_RUN_BATCH_SIZE));
        sweptTo = sweep.next();
        return act(Observer.Duty.JOINS,
                sweep.stuck().stream().<Command>map(run -> new Command.Settle(run, Actor.RECONCILER)).toList());
    }

    /** Begins months that no commit has begun, so that their use is known without the ledger. */
    int endedMonths() {
        return database.inTransaction(c -> store.beginMonths(c, BATCH_SIZE));
    }

    private int act(Observer.Duty duty, List<Command> found) {
        List<CompletableFuture<Reply>> answers = found.stream().map(commands).toList();
        answers.forEach(CompletableFuture::join);
        observers.forEach(each -> each.repaired(duty, found.size()));
        return found.size();
    }
}
