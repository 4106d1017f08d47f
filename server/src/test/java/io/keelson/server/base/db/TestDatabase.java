package io.keelson.server.base.db;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Fresh databases for tests: copies of a migrated template on {@link TestPostgres}, some 50 ms and 12 MB each. A database
 * belongs to the test class on whose thread it was made, and is dropped after that class by {@link DroppedDatabases}.
 */
public final class TestDatabase {

    /** Whom {@link #createUrlOfPlainOwner} gives databases to. */
    public static final String PLAIN_OWNER = "plain_owner";

    private static final String TEMPLATE = "keelson_template";
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final DatabaseUrl MIGRATED = migrateTemplate();

    /** A user as on a managed database server: owner of one database, without other privileges. */
    private static final class PlainOwner {
        static final DatabaseUrl MIGRATED = migrateTemplate();

        private static DatabaseUrl migrateTemplate() {
            execute("create role " + PLAIN_OWNER + " login password '" + PLAIN_OWNER + "'");
            execute("create database " + TEMPLATE + "_owned owner " + PLAIN_OWNER);
            DatabaseUrl template = as(TestPostgres.server().url(TEMPLATE + "_owned"));
            Migrations.migrate(template);
            return template;
        }

        static DatabaseUrl as(DatabaseUrl url) {
            return new DatabaseUrl(url.hosts(), url.database(), PLAIN_OWNER, PLAIN_OWNER, url.parameters());
        }
    }

    /** The settings that {@link #limit} changes, as the session that asks has them. */
    static final String LIMITS =
            "select name, setting from pg_settings where name in ('lock_timeout', 'statement_timeout',"
                    + " 'idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout',"
                    + " 'default_transaction_isolation')";

    private TestDatabase() {}

    /** As an operator limits programs of people: settings of the database, for sessions that begin from now on. */
    static void limit(DatabaseUrl url) {
        for (String setting : List.of("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout",
                "idle_session_timeout", "transaction_timeout")) {
            execute("alter database " + url.database() + " set " + setting + " = '1h'");
        }
        execute("alter database " + url.database() + " set default_transaction_isolation = 'serializable'");
    }

    /** Creates an unshared database with the current schema. The caller closes it. */
    public static Database create() {
        return new Database(createUrl(), DatabaseOptions.DEFAULTS.withPoolSize(8));
    }

    /** Where a new database of the current schema is, for tests that start a whole server on it. */
    public static DatabaseUrl createUrl() {
        return copyOf(MIGRATED.database());
    }

    /** The same for a user who is no superuser, has no BYPASSRLS and may make no roles. */
    public static DatabaseUrl createUrlOfPlainOwner() {
        return PlainOwner.as(copyOf(PlainOwner.MIGRATED.database() + " owner " + PLAIN_OWNER));
    }

    /** The same database for {@link #PLAIN_OWNER}, which does not own it. */
    static DatabaseUrl asPlainOwner(DatabaseUrl url) {
        return PlainOwner.as(url);
    }

    /** Where a new database without anything in it is. */
    public static DatabaseUrl createEmptyUrl() {
        return copyOf("template1");
    }

    /** A new empty database of {@link #PLAIN_OWNER}. */
    public static DatabaseUrl createEmptyUrlOfPlainOwner() {
        return PlainOwner.MIGRATED.withDatabase(copyOf("template1 owner " + PLAIN_OWNER).database());
    }

    /** The same with the encoding LATIN1, as some older installations have. */
    static DatabaseUrl createLatin1Url() {
        return copyOf("template0 encoding 'LATIN1' locale_provider libc lc_collate 'C' lc_ctype 'C'");
    }

    /** With the password, as settings take it. */
    public static String text(DatabaseUrl url) {
        return "postgresql://" + url.user() + ":" + url.password() + "@" + url.hosts() + "/" + url.database();
    }

    private static DatabaseUrl copyOf(String template) {
        String name = "test_" + COUNT.incrementAndGet();
        execute("create database " + name + " template " + template + " strategy file_copy");
        DroppedDatabases.add(name);
        return TestPostgres.server().url(name);
    }

    /** Keeps a copy for {@link #goBack}. Ends all sessions, as a restart does. */
    public static void keep(DatabaseUrl url) {
        withoutSessions(url.database(), "create database " + kept(url) + " template " + url.database()
                + " strategy file_copy");
        DroppedDatabases.add(kept(url));
        execute("alter database " + url.database() + " allow_connections true");
    }

    /** Puts the copy in the database's place, as a failover to a standby without the latest commits does. */
    public static void goBack(DatabaseUrl url) {
        String lost = url.database() + "_lost";
        withoutSessions(url.database(), "alter database " + url.database() + " rename to " + lost);
        DroppedDatabases.add(lost);
        execute("alter database " + kept(url) + " rename to " + url.database());
    }

    private static String kept(DatabaseUrl url) {
        return url.database() + "_kept";
    }

    private static void withoutSessions(String database, String sql) {
        execute("alter database " + database + " allow_connections false");
        execute("select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '" + database + "'");
        execute(sql);
    }

    private static DatabaseUrl migrateTemplate() {
        execute("create database " + TEMPLATE);
        DatabaseUrl template = TestPostgres.server().url(TEMPLATE);
        Migrations.migrate(template);
        return template;
    }

    static void execute(String sql) {
        try (Connection connection = TestPostgres.server().url("postgres").connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new SqlFailure(e);
        }
    }
}
