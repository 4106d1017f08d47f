package io.keelson.server.db;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;

/** Fresh databases for tests: copies of a migrated template on {@link TestPostgres}, some 50 ms each. */
public final class TestDatabase {

    private static final String TEMPLATE = "keelson_template";
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final DatabaseUrl MIGRATED = migrateTemplate();

    private TestDatabase() {}

    /** A database of the current schema that nobody else uses. The caller closes it; it vanishes with the JVM. */
    public static Database create() {
        return new Database(createUrl(), DatabaseOptions.DEFAULTS.withPoolSize(8));
    }

    /** Where a new database of the current schema is, for tests that start a whole server on it. */
    public static DatabaseUrl createUrl() {
        return copyOf(MIGRATED.database());
    }

    /** Where a new database without anything in it is. */
    public static DatabaseUrl createEmptyUrl() {
        return copyOf("template1");
    }

    private static DatabaseUrl copyOf(String template) {
        String name = "test_" + COUNT.incrementAndGet();
        execute("create database " + name + " template " + template + " strategy wal_log");
        return TestPostgres.server().url(name);
    }

    private static DatabaseUrl migrateTemplate() {
        execute("create database " + TEMPLATE);
        DatabaseUrl template = TestPostgres.server().url(TEMPLATE);
        Migrations.migrate(template);
        return template;
    }

    private static void execute(String sql) {
        try (Connection connection = TestPostgres.server().url("postgres").connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new SqlFailure(e);
        }
    }
}
