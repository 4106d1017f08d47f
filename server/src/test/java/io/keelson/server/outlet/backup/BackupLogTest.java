package io.keelson.server.outlet.backup;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

class BackupLogTest {

    @Test
    void ageIsOfTheLatestRecordedBackup() throws Exception {
        DatabaseUrl url = TestDatabase.createUrlOfPlainOwner();
        try (Connection c = url.connect(); Statement statement = c.createStatement()) {
            assertThat(BackupLog.age(c)).isNaN();

            statement.execute(
                    "insert into installation_backups (ended_at, tool) values (now() - interval '1 hour', 'pg_dump'),"
                            + " (now() - interval '500 days', 'pg_dump')");
            assertThat(BackupLog.age(c)).isBetween(3_600.0, 7_200.0);

            BackupLog.record(url, "/backup/today");
            assertThat(BackupLog.age(c)).isBetween(0.0, 3_000.0);
            try (var row = statement.executeQuery("select count(*) from installation_backups")) {
                row.next();
                assertThat(row.getInt(1)).as("the old one is removed").isEqualTo(2);
            }

            statement.execute("drop table installation_backups");
            BackupLog.record(url, "/backup/today");
            assertThat(BackupLog.age(c)).as("a schema before the table").isNaN();
        }
    }
}
