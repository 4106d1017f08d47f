package io.keelson.bench.contender;

import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.util.stream.IntStream;
import org.jobrunr.configuration.JobRunr;
import org.jobrunr.jobs.lambdas.JobRequest;
import org.jobrunr.jobs.lambdas.JobRequestHandler;
import org.jobrunr.scheduling.BackgroundJobRequest;
import org.jobrunr.server.BackgroundJobServer;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.storage.sql.common.SqlStorageProviderFactory;
import org.jspecify.annotations.Nullable;

/** JobRunr with its shortest polling interval: jobs without steps. */
final class JobRunrJobs implements Contender {
    private static final int CONNECTIONS = 30;
    private static final Duration SHORTEST_POLL = Duration.ofSeconds(5);

    /** JobRunr makes its handlers itself. */
    private static volatile @Nullable Tally tally;

    /** A job that does nothing. */
    public record Job(int number) implements JobRequest {
        @Override
        public Class<JobHandler> getJobRequestHandler() {
            return JobHandler.class;
        }
    }

    /** Does it. */
    public static final class JobHandler implements JobRequestHandler<Job> {
        @Override
        public void run(Job job) {
            Tally now = tally;
            if (now != null) {
                now.one();
            }
        }
    }

    private final HikariDataSource pool;
    private int preloaded;

    JobRunrJobs(Place place) {
        pool = Pools.of(place, CONNECTIONS);
        JobRunr.configure().useStorageProvider(SqlStorageProviderFactory.using(pool))
                .useBackgroundJobServer(BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration()
                        .andPollInterval(SHORTEST_POLL), false)
                .initialize();
    }

    @Override
    public WorkloadResult load(Load load) {
        throw new UnsupportedOperationException("JobRunr has no steps; it takes part in the queue drain");
    }

    @Override
    public void preload(int count) {
        BackgroundJobRequest.enqueue(IntStream.range(0, count).mapToObj(Job::new));
        preloaded = count;
    }

    @Override
    public WorkloadResult drain(double seconds) throws InterruptedException {
        Tally counting = new Tally(preloaded);
        tally = counting;
        BackgroundJobServer server = JobRunr.getBackgroundJobServer();
        long start = System.nanoTime();
        server.start();
        return counting.since(start, seconds);
    }

    @Override
    public void close() {
        JobRunr.destroy();
        pool.close();
    }
}
