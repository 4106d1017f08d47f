package io.keelson.server.engine.dispatch;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.engine.store.RunStore;
import io.keelson.server.engine.store.RunStore.Candidate;
import io.keelson.server.engine.store.RunStore.Search;
import io.keelson.server.engine.store.WorkLimits;
import io.keelson.server.engine.store.WorkLimits.Capacity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * Searches and claims work, within the workspaces' limits. In a workspace with such limits one claim at a time, of any
 * node, is counted and committed, so that capacity is never used twice; elsewhere claims are independent. A claim counts for the
 * limits per minute in a commit before it, so a crash wastes capacity and never exceeds a limit.
 */
public final class Claims {

    /** The bucket of a rate has half a second, so a search less often than that would waste capacity. */
    private static final Duration SHORTEST_WAIT = Duration.ofMillis(50);

    private final Database database;
    private final RunStore store;
    private final WorkLimits limits;
    private final WorkAvailability available;
    private final Function<Command, CompletableFuture<Reply>> commands;
    private final BiConsumer<Duration, Runnable> delayed;
    private final AtomicBoolean wakes = new AtomicBoolean();
    /** Held by the one of several waiting threads that has a connection. */
    private final ReentrantLock limited = new ReentrantLock();

    /** @param delayed runs a short action after a time */
    public Claims(Database database, RunStore store, WorkLimits limits, WorkAvailability available,
            Function<Command, CompletableFuture<Reply>> commands, BiConsumer<Duration, Runnable> delayed) {
        this.database = database;
        this.store = store;
        this.limits = limits;
        this.available = available;
        this.commands = commands;
        this.delayed = delayed;
    }

    /** Claimable work at this moment, in order of dispatch. */
    public List<Candidate> find(Search search) {
        if (search.workspaceId() != null) {
            meet(Set.of(search.workspaceId()));
        }
        Set<UUID> limitedOnes = search.workspaceId() == null ? limits.workspaces()
                : limits.limited(search.workspaceId()) ? Set.of(search.workspaceId()) : Set.of();
        if (limitedOnes.isEmpty()) {
            return Tenancy.allWorkspaces(() -> database.withConnection(c -> store.candidates(c, search)));
        }
        return Tenancy.allWorkspaces(() -> database.inTransaction(c -> {
            Capacity capacity = limits.capacity(c, limitedOnes);
            if (capacity.anyFull()) {
                available.heldBack();
                searchAgain(capacity);
            }
            return store.candidates(c, search, capacity);
        }));
    }

    /** The given items that are claimable at this moment by a worker of that version with these tools, in order of dispatch. */
    public List<Candidate> find(UUID workspace, Collection<String> tools, String version, Collection<Lane> items) {
        return Tenancy.allWorkspaces(
                () -> database.withConnection(c -> store.candidates(c, workspace, tools, version, items)));
    }

    /** Whether claims in the workspace are counted, because it has limits. */
    public boolean counts(Candidate candidate) {
        meet(Set.of(candidate.workspaceId()));
        return limits.limited(candidate.workspaceId());
    }

    /** Claims them; omits work whose limit is reached meanwhile. */
    public List<Reply> claim(List<Candidate> candidates, Function<Candidate, Command> command) {
        Set<UUID> workspaces = new TreeSet<>();
        candidates.forEach(candidate -> workspaces.add(candidate.workspaceId()));
        meet(workspaces);
        Set<UUID> crowded = new TreeSet<>();
        workspaces.stream().filter(limits::limited).forEach(crowded::add);
        if (crowded.isEmpty()) {
            return submit(candidates, command);
        }
        limited.lock();
        try {
            return Tenancy.allWorkspaces(() -> database.inTransaction(c -> {
                WorkLimits.lock(c, crowded);
                Capacity capacity = limits.capacity(c, crowded);
                // Another node may have claimed some before this one held the lock. They would count for limits per minute.
                List<Candidate> waiting = store.waiting(c, candidates);
                List<Candidate> fitting = waiting.stream().filter(capacity::take).toList();
                if (fitting.size() < waiting.size()) {
                    available.heldBack();
                }
                searchAgain(capacity);
                if (capacity.spends()) {
                    database.runInTransaction(own -> limits.admit(own, capacity));
                }
                return submit(fitting, command);
            }));
        } finally {
            limited.unlock();
        }
    }

    /** Searches again when the first limit per minute admits a step. */
    private void searchAgain(Capacity capacity) {
        Duration soonest = capacity.soonest();
        if (soonest != null && wakes.compareAndSet(false, true)) {
            delayed.accept(soonest.compareTo(SHORTEST_WAIT) < 0 ? SHORTEST_WAIT : soonest, () -> {
                wakes.set(false);
                available.signal();
            });
        }
    }

    /** Reads the limits of a new workspace before its first claim. */
    private void meet(Set<UUID> workspaces) {
        if (!limits.know(workspaces)) {
            Tenancy.allWorkspaces(() -> {
                database.runInTransaction(c -> limits.meet(c, workspaces));
                return null;
            });
        }
    }

    private List<Reply> submit(List<Candidate> candidates, Function<Candidate, Command> command) {
        List<CompletableFuture<Reply>> answers = new ArrayList<>();
        candidates.forEach(candidate -> answers.add(commands.apply(command.apply(candidate))));
        return answers.stream().map(CompletableFuture::join).toList();
    }
}
