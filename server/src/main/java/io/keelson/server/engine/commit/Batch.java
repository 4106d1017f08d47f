package io.keelson.server.engine.commit;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.RunView;
import io.keelson.core.run.Command;
import io.keelson.server.engine.commit.ViewCache.Weighed;
import io.keelson.server.engine.store.KeyUse;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Commands that are committed together, and the views of their runs, taken out of the cache for that time. Used by one
 * thread.
 */
final class Batch {
    final List<PendingCommand> commands;
    final Set<UUID> runs = new TreeSet<>();
    private final ViewCache cache;
    private final Map<UUID, Weighed> views = new HashMap<>();
    private final long generation;
    private @Nullable Instant outage;

    Batch(List<PendingCommand> commands, ViewCache cache) {
        this.commands = commands;
        this.cache = cache;
        commands.forEach(pending -> runs.add(pending.command.runId()));
        generation = cache.generation();
        outage = cache.take(runs, views);
    }

    /**
     * The number of commands that can be decided together. The start of a retry needs a view loaded after its run
     * failed, not one on which it fails in the same batch.
     */
    static int cut(List<PendingCommand> commands) {
        Set<UUID> before = new HashSet<>();
        for (int i = 0; i < commands.size(); i++) {
            UUID run = commands.get(i).command.runId();
            if (commands.get(i).command instanceof Command.Retry && before.contains(run)) {
                return i;
            }
            before.add(run);
        }
        return commands.size();
    }

    /** The view of a run; null when it is not at hand. */
    @Nullable RunView view(UUID run) {
        Weighed view = views.get(run);
        return view == null ? null : view.view();
    }

    void put(RunView view) {
        views.put(view.run().id(), new Weighed(view));
    }

    void drop(Collection<UUID> those) {
        views.keySet().removeAll(those);
    }

    /** Drops all views: they may have changes that were not committed. */
    void dropViews() {
        views.clear();
    }

    /** Returns the views to the cache; a batch that fails keeps them from it. */
    void returnViews() {
        cache.put(views.values(), outage, generation);
    }

    /** Receives the end of the latest outage; drops all views if it is new. */
    void observed(@Nullable Instant latest) {
        cache.observed(latest);
        if (!Objects.equals(outage, latest)) {
            outage = latest;
            views.clear();
        }
    }

    /** True when all is at hand for decisions before any query. Timers may concern ended runs. */
    boolean atHand() {
        Set<UUID> created = new HashSet<>();
        for (PendingCommand pending : commands) {
            UUID run = pending.command.runId();
            if (pending.command instanceof Command.Create) {
                created.add(run);
            } else if (pending.command instanceof Command.TimerDue
                    || !views.containsKey(run) && !created.contains(run)) {
                return false;
            }
        }
        return true;
    }

    /** The runs whose views are at hand. */
    Set<UUID> existing() {
        return new HashSet<>(views.keySet());
    }

    /** The runs whose view is missing or of another version. */
    List<UUID> stale(Map<UUID, Integer> versions) {
        List<UUID> stale = new ArrayList<>();
        versions.forEach((run, version) -> {
            RunView view = view(run);
            if (view == null || view.run().version() != version) {
                stale.add(run);
            }
        });
        return stale;
    }

    /** Views whose commands changed nothing: no write proves them current. */
    List<RunView> untouched(ChangeSet changes) {
        Set<UUID> left = new TreeSet<>(views.keySet());
        changes.runs().forEach(run -> left.remove(run.id()));
        return left.stream().map(this::view).filter(Objects::nonNull).toList();
    }

    /** The workspaces of the runs. */
    Set<UUID> workspaces() {
        Set<UUID> workspaces = new HashSet<>();
        for (PendingCommand pending : commands) {
            RunView view = view(pending.command.runId());
            if (view != null) {
                workspaces.add(view.run().workspaceId());
            } else if (pending.command instanceof Command.Create create) {
                workspaces.add(create.run().workspaceId());
            }
        }
        return workspaces;
    }

    /** The commands' idempotency keys. */
    List<KeyUse.Id> keys() {
        return commands.stream().map(pending -> pending.key).filter(Objects::nonNull).map(KeyUse::id).distinct()
                .toList();
    }
}
