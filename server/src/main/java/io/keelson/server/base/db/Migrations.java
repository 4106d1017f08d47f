package io.keelson.server.base.db;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.keelson.server.base.db.DatabaseException.Code;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationInfo;
import org.flywaydb.core.api.MigrationInfoService;
import org.flywaydb.core.api.MigrationState;
import org.flywaydb.core.api.MigrationVersion;
import org.flywaydb.core.api.output.MigrateResult;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings a database's schema to the version of this build: numbered SQL files, each applied once. */
public final class Migrations {

    private static final Logger LOG = LoggerFactory.getLogger(Migrations.class);
    /** Version of the newest file of this build. */
    public static final int NEWEST = 41;

    private static final String LOCATION = "classpath:db/schema";
    private static final String TURN = "select pg_try_advisory_lock(hashtextextended('keelson_migrations', 0))";

    private static final String MAY_CREATE = """
            select has_schema_privilege(place, 'create') allowed, quote_ident(current_user) me, quote_ident(place) place
              from (select coalesce(current_schema(), 'public') place) target""";

    private Migrations() {}

    /**
     * Applies missing migrations. Any number of servers may do this at once: one works, the others wait for it.
     *
     * @return how many files were applied
     * @throws DatabaseException DATABASE_SCHEMA_NEWER, DATABASE_SCHEMA_UNRELEASED, DATABASE_NOT_ADOPTABLE or
     *            DATABASE_REFUSED, with nothing changed, or DATABASE_MIGRATION_FAILED
     */
    public static int migrate(DatabaseUrl url) {
        return migrate(url, LOCATION);
    }

    /**
     * Brings a database to an earlier version of the schema, for the restore of a backup. Continues after an interruption.
     *
     * @param version the number of the last file to apply
     * @throws DatabaseException as {@link #migrate(DatabaseUrl)}
     */
    public static void migrateTo(DatabaseUrl url, int version) {
        migrate(url, LOCATION, MigrationVersion.fromVersion(Integer.toString(version)));
    }

    /**
     * The migration files of this build, in their order; changes nothing.
     *
     * @throws DatabaseException as {@link #pending(DatabaseUrl)}
     */
    public static List<MigrationFile> files(DatabaseUrl url) {
        try (HikariDataSource source = source(url)) {
            MigrationInfoService info = flyway(source, LOCATION, MigrationVersion.LATEST).info();
            refuseOthers(url, info);
            return Arrays.stream(info.all()).filter(each -> each.getScript().endsWith(".sql")).map(MigrationFile::of)
                    .toList();
        } catch (FlywayException e) {
            throw new DatabaseException(Code.DATABASE_MIGRATION_FAILED, "The schema of " + url
                    + " cannot be looked at: " + e.getMessage(), e);
        }
    }

    /**
     * How many files a server would apply; changes nothing.
     *
     * @throws DatabaseException as {@link #migrate(DatabaseUrl)}; DATABASE_MIGRATION_FAILED when the schema cannot be
     *         looked at
     */
    public static int pending(DatabaseUrl url) {
        return pending(url, LOCATION);
    }

    static int pending(DatabaseUrl url, String location) {
        requireRestored(url);
        try (HikariDataSource source = source(url)) {
            Flyway flyway = flyway(source, location, MigrationVersion.LATEST);
            MigrationInfoService info = flyway.info();
            refuseOthers(url, info);
            Neighbours.check(url);
            int pending = info.pending().length + failed(info);
            if (pending > 0) {
                requireCreate(url, source);
            }
            return pending;
        } catch (FlywayException | SQLException e) {
            throw new DatabaseException(Code.DATABASE_MIGRATION_FAILED, "The schema of " + url
                    + " cannot be looked at: " + e.getMessage(), e);
        }
    }

    static int migrate(DatabaseUrl url, String location) {
        requireRestored(url);
        return migrate(url, location, MigrationVersion.LATEST);
    }

    private static int migrate(DatabaseUrl url, String location, MigrationVersion target) {
        try (Connection turn = url.connect(); HikariDataSource source = source(url)) {
            takeTurn(turn);
            Flyway flyway = flyway(source, location, target);
            MigrationInfoService info = flyway.info();
            refuseOthers(url, info);
            Neighbours.check(url);
            Neighbours.warnings(url).forEach(LOG::warn);
            int files = info.pending().length + failed(info);
            if (files > 0) {
                requireCreate(url, source);
                var locks = new TableLocks(turn);
                if (info.applied().length == 0) {
                    Adoption.addColumns(url, locks);
                    buildIndexes(url); // which the migrations refer to
                }
                locks.await(() -> apply(url, flyway));
            }
            buildIndexes(url);
            return files;
        } catch (FlywayException | SQLException e) {
            throw new DatabaseException(Code.DATABASE_MIGRATION_FAILED, "The schema of " + url
                    + " could not be brought up to date: " + e.getMessage(), e);
        }
    }

    /**
     * Refuses a database into which the restore of a backup has begun and has not ended.
     *
     * @throws DatabaseException DATABASE_RESTORE_UNFINISHED
     */
    public static void requireRestored(DatabaseUrl url) {
        try (Connection connection = url.connect(); Statement statement = connection.createStatement();
                ResultSet row =
                        statement.executeQuery("select to_regclass('keelson_restore') is not null as unfinished")) {
            row.next();
            if (row.getBoolean("unfinished")) {
                throw new DatabaseException(Code.DATABASE_RESTORE_UNFINISHED, "The restore of the backup "
                        + restoredBackup(connection) + " into " + url
                        + " has not ended. Call `keelson restore` with the folder whose backup.json has this id: it continues.");
            }
        } catch (SQLException e) {
            throw new DatabaseException(Code.DATABASE_MIGRATION_FAILED, "The schema of " + url
                    + " cannot be looked at: " + e.getMessage(), e);
        }
    }

    private static String restoredBackup(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select value from keelson_restore where kind = 'backup'")) {
            return row.next() ? row.getString("value") : "";
        }
    }

    private static void buildIndexes(DatabaseUrl url) throws SQLException {
        SharedIndexes.build(url).forEach(built -> LOG.debug("Executed: {}", built));
    }

    private static int apply(DatabaseUrl url, Flyway flyway) throws SQLException {
        if (failed(flyway.info()) > 0) {
            forgetFailed(url);
        }
        MigrateResult result = flyway.migrate();
        if (result.migrationsExecuted > 0) {
            LOG.info("Schema of {} brought to version {}", url, result.targetSchemaVersion);
        }
        return result.migrationsExecuted;
    }

    /**
     * One server migrates at a time, until its connection ends. Flyway locks less: it may find a half-written history.
     * Polls for the lock, because a waiting statement would block CREATE INDEX CONCURRENTLY.
     */
    private static void takeTurn(Connection turn) throws SQLException {
        try (Statement statement = turn.createStatement()) {
            while (true) {
                try (ResultSet row = statement.executeQuery(TURN)) {
                    row.next();
                    if (row.getBoolean(1)) {
                        return;
                    }
                }
                statement.execute("select pg_sleep(0.05)");
            }
        }
    }

    /** The files are edited in place until the first release, so a database may have been made by other ones. */
    private static void refuseOthers(DatabaseUrl url, MigrationInfoService info) {
        Arrays.stream(info.all()).filter(Migrations::unreleased).findFirst().ifPresent(other -> {
            throw new DatabaseException(Code.DATABASE_SCHEMA_UNRELEASED, "The schema of " + url + " was made by an"
                    + " unreleased build of Keelson: its version " + other.getVersion() + " is not this build's."
                    + " It cannot be brought up to date, and nothing was changed. Use a new data directory"
                    + " (KEELSON_DATA_DIR) or a new database (KEELSON_DATABASE_URL).");
        });
        Arrays.stream(info.all()).filter(Migrations::newer).findFirst().ifPresent(unknown -> {
            throw new DatabaseException(Code.DATABASE_SCHEMA_NEWER, "The schema of " + url + " has version "
                    + unknown.getVersion() + ", which this Keelson does not know. Start the newer Keelson that made"
                    + " it, or restore a backup from before the upgrade into another database.");
        });
    }

    /**
     * A file that is not applied in a transaction may fail half-way. It is then applied again from its beginning, as every
     * file may be; Flyway by itself would refuse every later migration.
     */
    private static void forgetFailed(DatabaseUrl url) throws SQLException {
        try (Connection connection = url.connect(); Statement statement = connection.createStatement()) {
            statement.executeUpdate("delete from flyway_schema_history where not success");
        }
    }

    private static int failed(MigrationInfoService info) {
        return Math.toIntExact(Arrays.stream(info.all())
                .filter(each -> each.getState() == MigrationState.FAILED).count());
    }

    private static boolean unreleased(MigrationInfo migration) {
        return switch (migration.getState()) {
            case SUCCESS, OUT_OF_ORDER -> !migration.isChecksumMatching();
            case MISSING_SUCCESS -> true;
            default -> false;
        };
    }

    private static boolean newer(MigrationInfo migration) {
        return switch (migration.getState()) {
            case FUTURE_SUCCESS, FUTURE_FAILED -> true;
            default -> false;
        };
    }

    private static void requireCreate(DatabaseUrl url, DataSource source) throws SQLException {
        try (Connection connection = source.getConnection(); Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(MAY_CREATE)) {
            row.next();
            if (!row.getBoolean("allowed")) {
                throw new DatabaseException(Code.DATABASE_REFUSED, "The user " + row.getString("me")
                        + " may not create tables in the database " + url + ". Make it the owner of the database, or"
                        + " execute there: grant usage, create on schema " + row.getString("place") + " to "
                        + row.getString("me"));
            }
        }
    }

    private static HikariDataSource source(DatabaseUrl url) {
        var config = new HikariConfig();
        config.setPoolName("keelson-migrations");
        config.setJdbcUrl(url.jdbc());
        config.setUsername(url.user());
        config.setPassword(url.password());
        config.setConnectionInitSql(TableLocks.SESSION_SQL);
        config.setMaximumPoolSize(4);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(DatabaseOptions.UNLIMITED.connectTimeout().toMillis());
        config.setInitializationFailTimeout(-1); // the first use of a connection reports the failure
        return new HikariDataSource(config);
    }

    private static Flyway flyway(DataSource source, String location, MigrationVersion target) {
        return Flyway.configure()
                .dataSource(source)
                .locations(location)
                .target(target)
                // tables of others are no reason to refuse a database: see Neighbours
                .baselineOnMigrate(true)
                .baselineVersion("0")
                .loggers(FlywayLogs.class.getName())
                // a session lock, not a transaction's: CREATE INDEX CONCURRENTLY waits for open transactions
                .configuration(Map.of("flyway.postgresql.transactional.lock", "false"))
                .load();
    }
}
