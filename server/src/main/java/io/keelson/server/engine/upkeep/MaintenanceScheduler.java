package io.keelson.server.engine.upkeep;

import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.engine.commit.CurrentPrices;
import io.keelson.server.engine.dispatch.WorkAvailability;
import io.keelson.server.engine.history.DatabaseHistory;
import io.keelson.server.engine.store.VersionRules;
import io.keelson.server.engine.store.WorkLimits;
import io.keelson.server.engine.tool.WorkspaceTools;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Schedules the periodic tasks of a node: its heartbeat, the poll for due work, and rarer tasks. */
public final class MaintenanceScheduler implements AutoCloseable {
    private static final Duration TIMER_INTERVAL = Duration.ofSeconds(1);
    private static final Duration JOIN_CHECK_INTERVAL = Duration.ofSeconds(20);
    private static final Duration MONTH_CHECK_INTERVAL = Duration.ofMinutes(1);
    private static final Duration CLEANUP_INTERVAL = Duration.ofMinutes(5);
    private static final Duration ORPHAN_SCAN_INTERVAL = Duration.ofHours(6);

    private final NodeHeartbeat heartbeat;
    private final DueWorkPoller dueWorkPoller;
    private final Reconciler reconciler;
    private final RunEnds ends;
    private final WorkLimits limits;
    private final VersionRules versions;
    private final WorkAvailability available;
    private final CurrentPrices prices;
    private final WorkspaceTools workspaceTools;
    private final ExpiredData expired;
    private final DatabaseHistory history;
    private final BackgroundTask settings = BackgroundTask.onNudge("settings", this::readChangedSettings);
    private volatile List<BackgroundTask> tasks = List.of();
    /** The mark of the settings at the last poll, and that of the settings that were read last. */
    private volatile String marked = "";
    private volatile String readMark = "-";

    public MaintenanceScheduler(NodeHeartbeat heartbeat, DueWorkPoller dueWorkPoller, Reconciler reconciler,
            RunEnds ends, WorkLimits limits, VersionRules versions, WorkAvailability available, CurrentPrices prices,
            WorkspaceTools workspaceTools, ExpiredData expired, DatabaseHistory history) {
        this.versions = versions;
        this.available = available;
        this.history = history;
        this.workspaceTools = workspaceTools;
        this.heartbeat = heartbeat;
        this.dueWorkPoller = dueWorkPoller;
        this.reconciler = reconciler;
        this.ends = ends;
        this.limits = limits;
        this.prices = prices;
        this.expired = expired;
    }

    /** @param actions start other packages' due work; each must return at once */
    public void start(Map<DueWorkPoller.Kind, Runnable> actions) {
        heartbeat.register();
        readSettings();
        dueWorkPoller.readLosses();
        BackgroundTask beat = BackgroundTask.every("heartbeat", heartbeat.period(), heartbeat::send);
        dueWorkPoller.onReturn(beat::nudge);
        dueWorkPoller.onSettings(this::marked);
        tasks = List.of(history.task(), dueWorkPoller.watch(), beat,
                BackgroundTask.every("ended-runs", TIMER_INTERVAL, ends::poll),
                settings,
                BackgroundTask.paced("due-work", TIMER_INTERVAL, () -> dueWorkPoller.look(actions)),
                BackgroundTask.every("stuck-joins", JOIN_CHECK_INTERVAL, dueWorkPoller::stuckJoins),
                BackgroundTask.every("months", MONTH_CHECK_INTERVAL, reconciler::endedMonths),
                BackgroundTask.every("cleanup", CLEANUP_INTERVAL, expired::delete),
                BackgroundTask.every("orphan-scan", ORPHAN_SCAN_INTERVAL, expired::deleteOrphans));
        tasks.forEach(BackgroundTask::start);
    }

    /** The periodic tasks; none before the start. */
    public List<BackgroundTask> tasks() {
        return tasks;
    }

    /** Whether the node's heartbeat was committed recently: not while the database accepts no writes. */
    public boolean commits() {
        return heartbeat.commits();
    }

    /** Sends the node's heartbeat now, and stops executions that have lost their lease. */
    public void keepLeases() {
        heartbeat.send();
    }

    /** Reads limits, rules about versions, prices and tools of workspaces; of two concurrent calls the later one's result counts. */
    public void readSettings() {
        boolean news = dueWorkPoller.query(c -> {
            boolean changed = versions.refresh(c);
            limits.refresh(c);
            prices.refresh(c);
            workspaceTools.refresh(c);
            return changed;
        });
        if (news) {
            available.signal();
        }
    }

    /** Servers without a rule about versions may have queued work before they read it, so rules are read at each mark. */
    private void marked(String mark) {
        marked = mark;
        if (!mark.equals(readMark) || versions.any()) {
            settings.nudge();
        }
    }

    private void readChangedSettings() {
        String mark = marked;
        readSettings();
        readMark = mark;
    }

    @Override
    public void close() throws InterruptedException {
        for (BackgroundTask task : tasks) {
            task.close();
        }
        heartbeat.close();
        dueWorkPoller.close();
    }
}
