package io.keelson.bench.contender;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** db-scheduler with lock-and-fetch polling, its way for high throughput: one-time jobs without steps. */
final class DbScheduler implements Contender {
    private static final int THREADS = 50;
    private static final int CONNECTIONS = 30;
    private static final int BATCH = 1_000;

    /** As its documentation gives it. */
    private static final String TABLE = """
            create table scheduled_tasks (
                task_name text not null,
                task_instance text not null,
                task_data bytea,
                execution_time timestamptz not null,
                picked boolean not null,
                picked_by text,
                last_success timestamptz,
                last_failure timestamptz,
                consecutive_failures int,
                last_heartbeat timestamptz,
                version bigint not null,
                priority smallint,
                primary key (task_name, task_instance)
            );
            create index execution_time_idx on scheduled_tasks (execution_time);
            create index last_heartbeat_idx on scheduled_tasks (last_heartbeat);
            create index priority_execution_time_idx on scheduled_tasks (priority desc, execution_time asc);""";

    private final HikariDataSource pool;
    private final OneTimeTask<Void> task = Tasks.oneTime("job").execute((instance, context) -> ended());
    private final Scheduler scheduler;
    private volatile @Nullable Tally tally;
    private int preloaded;

    DbScheduler(Place place) throws SQLException {
        pool = Pools.of(place, CONNECTIONS);
        try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
            statement.execute(TABLE);
        }
        scheduler = Scheduler.create(pool, task).threads(THREADS).pollUsingLockAndFetch(1, 4)
                .pollingInterval(Duration.ofMillis(100)).build();
    }

    private void ended() {
        Tally now = tally;
        if (now != null) {
            now.one();
        }
    }

    @Override
    public WorkloadResult load(Load load) {
        throw new UnsupportedOperationException("db-scheduler has no steps; it takes part in the queue drain");
    }

    @Override
    public void preload(int count) {
        Instant due = Instant.EPOCH;
        List<TaskInstance<?>> batch = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            batch.add(task.instance("job-" + i));
            if (batch.size() == BATCH || i == count) {
                scheduler.scheduleBatch(batch, due);
                batch.clear();
            }
        }
        preloaded = count;
    }

    @Override
    public WorkloadResult drain(double seconds) throws InterruptedException {
        Tally counting = new Tally(preloaded);
        tally = counting;
        long start = System.nanoTime();
        scheduler.start();
        return counting.since(start, seconds);
    }

    @Override
    public void close() {
        scheduler.stop();
        pool.close();
    }
}
