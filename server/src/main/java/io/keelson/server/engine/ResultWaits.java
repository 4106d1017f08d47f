package io.keelson.server.engine;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.TimerKind;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.engine.store.queue.ResultCache;
import io.keelson.server.engine.store.queue.ResultCache.Waiting;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Wakes the steps that wait for a result when its task ends. If this node ends before, their timers wake them. */
final class ResultWaits {
    private static final Logger LOG = LoggerFactory.getLogger(ResultWaits.class);

    private final Database database;
    private final ResultCache cache;
    private final Consumer<Command> commands;

    ResultWaits(Database database, ResultCache cache, Consumer<Command> commands) {
        this.database = database;
        this.cache = cache;
        this.commands = commands;
    }

    /** The tasks that a change ends and whose results steps may wait for. */
    static List<UUID> in(ChangeSet changes) {
        return changes.tasks().stream().filter(task -> task.state().terminal() && task.spec().policy().reuse() != null)
                .map(TaskRow::id).toList();
    }

    /** Returns at once. */
    void wake(List<UUID> tasks) {
        Thread.ofVirtual().name("result-waits").start(() -> {
            try {
                List<Waiting> waiting =
                        Tenancy.allWorkspaces(() -> database.inTransaction(c -> cache.wake(c, tasks)));
                waiting.forEach(each -> commands.accept(new Command.TimerDue(each.run(), TimerKind.EVALUATE_STEP,
                        each.step(), Actor.SYSTEM)));
            } catch (RuntimeException e) {
                LOG.warn("steps that wait for results of {} tasks are woken by their timers", tasks.size(), e);
            }
        });
    }
}
