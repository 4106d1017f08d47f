package io.keelson.bench.contender;

import com.github.f4b6a3.uuid.UuidCreator;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Properties;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What PostgreSQL gives to two connections that do nothing but transitions in sets of a hundred: each an update of a
 * row and one insert into an event table that has the columns and indexes of Keelson's. Counts transitions.
 */
final class SqlLimit implements Contender {
    private static final int CONNECTIONS = 2;
    private static final int SET = 100;
    private static final int ROWS_EACH = 20_000;
    private static final String[] STATES = {"running", "completed"};

    private static final String TABLES = """
            create table limit_rows (
                id uuid primary key,
                run_id uuid not null,
                state varchar(30) not null,
                version_id integer not null default 1,
                updated_at timestamptz not null default now()
            ) with (fillfactor = 70);
            create table limit_events (
                id bigserial primary key,
                run_id uuid not null,
                task_id uuid,
                event_type varchar(50) not null,
                payload jsonb not null default '{}',
                actor_type varchar(20) not null default 'system',
                actor_id varchar(255),
                created_at timestamptz not null default now(),
                seq bigint not null,
                step_id uuid,
                xid xid8 not null default pg_current_xact_id()
            );
            create unique index on limit_events (run_id, seq);
            create index on limit_events using brin (created_at);""";

    private static final String FILL = """
            insert into limit_rows (id, run_id, state) select id, run_id, 'pending'
              from unnest(?::uuid[], ?::uuid[]) as u (id, run_id)""";

    private static final String UPDATE = """
            update limit_rows r set state = ?, version_id = r.version_id + 1, updated_at = now()
              from unnest(?::uuid[]) as u (id) where r.id = u.id""";

    private static final String INSERT = """
            insert into limit_events (run_id, task_id, event_type, actor_id, seq, step_id)
            select run_id, run_id, ?, 'bench', ? + (n - 1) % 10, id
              from unnest(?::uuid[], ?::uuid[]) with ordinality as u (id, run_id, n)""";

    /** Session settings equal to those of Keelson's committers: plans pinned to indexes. */
    private static final String SESSION = "set plan_cache_mode = force_generic_plan; set enable_seqscan = off;"
            + " set enable_hashjoin = off; set enable_mergejoin = off";

    private final Setter[] setters = new Setter[CONNECTIONS];

    SqlLimit(Place place) throws SQLException {
        for (int i = 0; i < CONNECTIONS; i++) {
            Connection connection = connect(place);
            if (i == 0) {
                execute(connection, TABLES);
            }
            execute(connection, SESSION);
            setters[i] = new Setter(connection);
        }
    }

    private static Connection connect(Place place) throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("user", place.user());
        properties.setProperty("password", place.password());
        properties.setProperty("prepareThreshold", "1");
        return DriverManager.getConnection(place.jdbc(), properties);
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The number of callers is not looked at. */
    @Override
    public WorkloadResult load(Load load) throws Exception {
        double seconds = load.seconds() > 0 ? load.seconds() : 1;
        Thread[] threads = new Thread[CONNECTIONS];
        long start = System.nanoTime();
        long deadline = start + (long) (seconds * 1e9);
        for (int i = 0; i < CONNECTIONS; i++) {
            Setter setter = setters[i];
            threads[i] = Thread.ofPlatform().start(() -> setter.workUntil(deadline));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        long sets = Arrays.stream(setters).mapToLong(Setter::takeSets).sum();
        return WorkloadResult.of(sets * SET, System.nanoTime() - start);
    }

    @Override
    public void close() throws SQLException {
        for (Setter setter : setters) {
            setter.connection.close();
        }
    }

    /** One connection with rows of its own, each set one transaction. */
    private static final class Setter {
        private final Connection connection;
        private final UUID[] ids = Stream.generate(UuidCreator::getTimeOrderedEpoch).limit(ROWS_EACH)
                .toArray(UUID[]::new);
        private final UUID[] runs;
        private long position;
        private long sets;

        private Setter(Connection connection) throws SQLException {
            this.connection = connection;
            // Ten rows to a run, as ten steps are.
            this.runs = IntStream.range(0, ROWS_EACH).mapToObj(i -> ids[i - i % 10]).toArray(UUID[]::new);
            connection.setAutoCommit(false);
            try (PreparedStatement fill = connection.prepareStatement(FILL)) {
                fill.setArray(1, connection.createArrayOf("uuid", ids));
                fill.setArray(2, connection.createArrayOf("uuid", runs));
                fill.executeUpdate();
            }
            connection.commit();
        }

        private void workUntil(long deadline) {
            try (PreparedStatement update = connection.prepareStatement(UPDATE);
                    PreparedStatement insert = connection.prepareStatement(INSERT)) {
                while (System.nanoTime() < deadline) {
                    oneSet(update, insert);
                    sets++;
                }
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        private void oneSet(PreparedStatement update, PreparedStatement insert) throws SQLException {
            int from = (int) (position * SET % ROWS_EACH);
            long pass = position++ * SET / ROWS_EACH;
            String state = STATES[(int) (pass % STATES.length)];
            var rows = connection.createArrayOf("uuid", Arrays.copyOfRange(ids, from, from + SET));
            update.setString(1, state);
            update.setArray(2, rows);
            insert.setString(1, "step_" + state);
            insert.setLong(2, 1 + 10 * pass);
            insert.setArray(3, rows);
            insert.setArray(4, connection.createArrayOf("uuid", Arrays.copyOfRange(runs, from, from + SET)));
            if (update.executeUpdate() != SET || insert.executeUpdate() != SET) {
                throw new IllegalStateException("a set was not written whole");
            }
            connection.commit();
        }

        private long takeSets() {
            long taken = sets;
            sets = 0;
            return taken;
        }
    }
}
