package io.keelson.server.app;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.server.annex.s3.S3ArtifactStore;
import io.keelson.server.api.http.ApiServices;
import io.keelson.server.api.http.ToolModule;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.Engine;
import io.keelson.server.engine.purge.WorkspacePurger;
import io.keelson.server.engine.store.archive.RunArchive;
import io.keelson.server.engine.store.retention.EventRetention;
import io.keelson.server.engine.upkeep.DueWorkPoller;
import io.keelson.server.engine.upkeep.EventSweeper;
import io.keelson.server.engine.upkeep.RunArchiver;
import io.keelson.server.mission.bulk.BulkDriver;
import io.keelson.server.mission.bulk.BulkJobs;
import io.keelson.server.mission.schedule.ScheduleRunner;
import io.keelson.server.mission.schedule.ScheduleServices;
import io.keelson.server.mission.schedule.ScheduleStore;
import io.keelson.server.mission.schedule.ScheduledTimes;
import io.keelson.server.mission.submission.RetryAdmission;
import io.keelson.server.mission.submission.ScheduledRuns;
import io.keelson.server.mission.submission.SubmissionServices;
import io.keelson.server.outlet.notice.Mailer;
import io.keelson.server.outlet.notice.SmtpSettings;
import io.keelson.server.outlet.statusdoc.StatusDocuments;
import io.keelson.server.outlet.webhook.WebhookDispatcher;
import io.keelson.server.tenant.workspace.WorkspaceStore;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The background work besides the engine. */
final class Background {

    private Background() {}

    /**
     * Starts the background parts and the engine; returns the parts that the API uses.
     *
     * @param all receives every background task
     * @throws IOException when the folder of status documents cannot be made
     */
    static ApiServices.Background start(Settings settings, Storage storage, EngineParts parts, Observation observation,
            Clock clock, List<BackgroundTask> all, Closer closer) throws IOException {
        Database database = storage.database();
        Engine engine = parts.engine();
        SubmissionServices submissions = parts.submissions();
        WorkspaceStore workspaces = storage.auth().workspaces();
        List<BackgroundTask> tasks = new ArrayList<>(storage.keyUsage().tasks());
        if (settings.artifacts().documents()) {
            tasks.addAll(closer.register(new StatusDocuments(database, storage.files().documents().open()).start())
                    .tasks());
        }
        DataFolderSpace space = closer.register(new DataFolderSpace(settings.dataDir()).start());
        observation.metrics().dataFolder(space::free, space::size);
        tasks.addAll(space.tasks());
        S3ArtifactStore objects = storage.files().objects();
        if (objects != null) {
            tasks.addAll(closer.register(new StoreOwnership(objects).start()).tasks());
        }
        EventSweeper events = closer.register(new EventSweeper(database, new EventRetention(DbClock.DATABASE),
                storage.artifacts(), settings.events(), UuidCreator::getTimeOrderedEpoch).start());
        RunArchiver archiver = closer.register(new RunArchiver(database, new RunArchive(DbClock.DATABASE),
                storage.artifacts(), settings.archive(), UuidCreator::getTimeOrderedEpoch,
                observation.metrics().archive()).start());
        ScheduleStore schedules = new ScheduleStore(DbClock.DATABASE);
        ScheduledTimes times = new ScheduledTimes(UuidCreator::getTimeOrderedEpoch);
        ScheduleRunner scheduleRunner = closer.register(new ScheduleRunner(database, schedules, times,
                new ScheduledRuns(submissions.runs(), submissions.missions(), engine, workspaces, database,
                        storage.runs())));
        BulkJobs jobs = new BulkJobs(DbClock.DATABASE);
        BulkDriver bulk = closer.register(new BulkDriver(database, jobs, engine,
                new RetryAdmission(workspaces, submissions.admission())).start());
        SmtpSettings mail = settings.notifications().mail();
        WebhookDispatcher webhooks = closer.register(new WebhookDispatcher(database, storage.endpoints(),
                storage.deliveries(), parts.outbound(),
                new WebhookDispatcher.People(parts.notices(), mail == null ? null : new Mailer(mail)), clock,
                observation.tracing()::ofRun, observation.deliveries()));
        Map<DueWorkPoller.Kind, Runnable> due = new EnumMap<>(Map.of(
                DueWorkPoller.Kind.SCHEDULES, scheduleRunner::signal, DueWorkPoller.Kind.WEBHOOKS, webhooks::signal));
        parts.modules().forEach(module -> due.putAll(module.due()));
        engine.start(due);
        for (ToolModule module : parts.modules()) {
            module.start(engine::settingsChanged);
            tasks.addAll(module.tasks());
        }
        WorkspacePurger purger = closer.register(new WorkspacePurger(database, storage.runs(), engine).start());
        Stream.of(events.tasks(), archiver.tasks(), scheduleRunner.tasks(), bulk.tasks(), webhooks.tasks(),
                engine.tasks(), purger.tasks()).forEach(tasks::addAll);
        tasks.forEach(observation.metrics()::background);
        all.addAll(tasks);
        return new ApiServices.Background(new ScheduleServices(schedules, times, scheduleRunner), jobs, bulk, purger);
    }
}
