package io.keelson.bench.lab;

import io.keelson.server.base.db.DatabaseUrl;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Samples the activity of a database's open transactions. */
public final class TransactionSamples implements AutoCloseable {
    private static final long INTERVAL_MS = 7;
    private static final double PERCENT = 100;
    private static final String SAMPLE = """
            select count(*) filter (where wait_event_type = 'IO' or wait_event = 'WALWrite'),
                count(*) filter (where wait_event is null), count(*) filter (where wait_event = 'ClientRead'), count(*)
              from pg_stat_activity
             where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()
               and backend_type = 'client backend'
            """;

    private final DatabaseUrl database;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final ExecutorService thread = Executors.newSingleThreadExecutor();
    private final Future<Shares> sampled;

    /**
     * Shares of the time in which transactions were open, in percent; NaN without a sample.
     *
     * @param log waits until the write-ahead log is written
     * @param processor uses a processor, or waits for one
     * @param message waits for the next message of the client
     * @param other waits for locks and others
     */
    public record Shares(double log, double processor, double message, double other) {}

    public TransactionSamples(DatabaseUrl database) {
        this.database = database;
        this.sampled = thread.submit(this::sample);
    }

    private Shares sample() throws SQLException, InterruptedException {
        double[] sums = new double[4];
        try (Connection connection = database.connect();
                PreparedStatement sample = connection.prepareStatement(SAMPLE)) {
            while (!closing.await(INTERVAL_MS, TimeUnit.MILLISECONDS)) {
                try (ResultSet row = sample.executeQuery()) {
                    row.next();
                    for (int i = 0; i < sums.length; i++) {
                        sums[i] += row.getLong(i + 1);
                    }
                }
            }
        }
        double all = sums[3] / PERCENT;
        return new Shares(sums[0] / all, sums[1] / all, sums[2] / all, (sums[3] - sums[0] - sums[1] - sums[2]) / all);
    }

    /** Ends the samples. */
    public Shares shares() throws InterruptedException, ExecutionException {
        closing.countDown();
        return sampled.get();
    }

    @Override
    public void close() {
        closing.countDown();
        thread.shutdown();
    }
}
