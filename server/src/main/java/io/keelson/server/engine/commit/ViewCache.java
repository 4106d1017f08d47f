package io.keelson.server.engine.commit;

import io.keelson.core.decide.RunView;
import io.keelson.core.decide.StepRow;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.lifecycle.StateType;
import io.keelson.core.run.Command;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.engine.store.RunStore;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Views of runs between commits. A commit takes its views out and puts them back, so no two commits share a view. Drops
 * the least recently used views first. Thread-safe.
 */
public final class ViewCache {
    private final int maxRows;
    /** The least recently used first. */
    private final Map<UUID, Weighed> views = new LinkedHashMap<>();
    private long rows;
    private @Nullable Instant outage;
    private long generation;

    /** A view with its weight when it was made; counting it again in each commit would cost more in a larger run. */
    record Weighed(RunView view, int weight) {

        Weighed(RunView view) {
            this(view, view.weight());
        }

        UUID run() {
            return view.run().id();
        }
    }

    /** @param maxRows maximum rows of all views together */
    public ViewCache(int maxRows) {
        this.maxRows = maxRows;
    }

    /**
     * Moves the views of these runs out of the cache into a map.
     *
     * @return the end of the latest outage that the views have
     */
    synchronized @Nullable Instant take(Collection<UUID> runs, Map<UUID, Weighed> taken) {
        for (UUID run : runs) {
            Weighed view = remove(run);
            if (view != null) {
                taken.put(run, view);
            }
        }
        return outage;
    }

    /**
     * Gives the views of runs to a reader, and loads the missing ones. A commit of such a run meanwhile loads another view; the proof of
     * the next commit drops the older one.
     *
     * @param reader receives a function that returns null for a run that does not exist
     */
    void look(Collection<UUID> runs, Database database, RunStore store,
            Consumer<Function<UUID, @Nullable RunView>> reader) {
        long from = generation();
        Map<UUID, Weighed> found = new HashMap<>();
        Instant known = take(runs, found);
        List<UUID> missing = runs.stream().filter(run -> !found.containsKey(run)).toList();
        if (!missing.isEmpty()) {
            Tenancy.allWorkspaces(() -> database.withConnection(c -> store.load(c, missing)))
                    .forEach((run, view) -> found.put(run, new Weighed(view)));
        }
        try {
            reader.accept(run -> {
                Weighed view = found.get(run);
                return view == null ? null : view.view;
            });
        } finally {
            put(found.values(), known, from);
        }
    }

    /** Counts the calls of {@link #clear}. */
    synchronized long generation() {
        return generation;
    }

    /** Drops all views, taken ones included: the database may lack the commits of their last changes. */
    public synchronized void clear() {
        generation++;
        views.clear();
        rows = 0;
    }

    /**
     * Receives views, except where a later outage was observed since they were taken, or all were dropped.
     *
     * @param from the generation before they were taken
     */
    synchronized void put(Collection<Weighed> returned, @Nullable Instant known, long from) {
        if (!Objects.equals(outage, known) || generation != from) {
            return;
        }
        for (Weighed view : returned) {
            remove(view.run());
            views.put(view.run(), view);
            rows += view.weight;
        }
        Iterator<Weighed> oldest = views.values().iterator();
        while (rows > maxRows && oldest.hasNext()) {
            rows -= oldest.next().weight;
            oldest.remove();
        }
    }

    /**
     * Receives the end of the latest outage. A view has only the outages up to its load, so a new outage drops all
     * views.
     */
    synchronized void observed(@Nullable Instant latest) {
        if (!Objects.equals(outage, latest)) {
            outage = latest;
            views.clear();
            rows = 0;
        }
    }

    /**
     * Whether the command begins a task or a run, ends a task, or neither. A task whose view is not here counts as begun and not
     * ending.
     */
    synchronized BatchPolicy.Kind kind(Command command) {
        Weighed view = views.get(command.runId());
        return switch (command) {
            case Command.Create _ -> BatchPolicy.Kind.BEGIN;
            case Command.Claim claim when view != null -> {
                TaskRow task = view.view().task(claim.taskId());
                yield task != null && task.state().type() == StateType.PENDING ? BatchPolicy.Kind.BEGIN
                        : BatchPolicy.Kind.MIDDLE;
            }
            case Command.Complete complete when view != null -> kind(view.view(), complete.stepId());
            case Command.CompleteChain chain when view != null -> kind(view.view(), chain.reports().getLast().stepId());
            default -> BatchPolicy.Kind.MIDDLE;
        };
    }

    private static BatchPolicy.Kind kind(RunView view, UUID reported) {
        StepRow step = view.step(reported);
        return step != null && step.task().steps().getLast() == step ? BatchPolicy.Kind.END : BatchPolicy.Kind.MIDDLE;
    }

    public synchronized void drop(UUID run) {
        remove(run);
    }

    private @Nullable Weighed remove(UUID run) {
        Weighed view = views.remove(run);
        if (view != null) {
            rows -= view.weight;
        }
        return view;
    }
}
