package io.keelson.server.base.db;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

class DatabaseStateTest {

    @Test
    void plainOwnerReadsAllButStandbysAndTransactionsOfOthers() throws Exception {
        DatabaseUrl owned = TestDatabase.createUrlOfPlainOwner();
        DatabaseUrl superuser = TestPostgres.server().url(owned.database());
        try (Connection open = superuser.connect(); Statement statement = open.createStatement();
                Connection plain = owned.connect()) {
            open.setAutoCommit(false);
            statement.execute("select 1");
            // It sees its own transaction, which begins later.
            long begin = System.nanoTime();
            DatabaseState read = DatabaseState.read(plain);
            double elapsed = (System.nanoTime() - begin) / 1e9;
            assertThat(read.timeline()).isEqualTo(1);
            assertThat(read.bytes()).isGreaterThan(5_000_000);
            assertThat(read.archiveBytes()).isNaN();
            assertThat(read.archiveFailing()).isFalse();
            assertThat(read.oldestTransaction()).isBetween(0.0, elapsed);
            assertThat(read.standbys()).isEqualTo(new Standbys(false, false, 0, 0, 0, 0));
            assertThat(read.standbys().warning()).isNull();

            DatabaseState complete;
            try (Connection all = superuser.connect()) {
                complete = DatabaseState.read(all);
            }
            assertThat(complete.oldestTransaction()).isGreaterThan(elapsed);
            assertThat(complete.standbys().visible()).isTrue();
        }
    }

    @Test
    void warningNamesTheDangerOfTheNextFailover() {
        assertThat(new Standbys(true, false, 0, 0, 0, 0).warning()).isNull();
        assertThat(new Standbys(true, true, 1, 1, 1e6, 0).warning()).isNull();
        assertThat(new Standbys(true, true, 0, 1, 0, 0).warning()).contains("commits wait for it");
        assertThat(new Standbys(true, false, 0, 2, 0, 0).warning()).startsWith("none of 2 standbys is synchronous");
        assertThat(new Standbys(true, true, 1, 0, 2e9, 0).warning()).contains("has not replayed 2,000 MB");
        assertThat(new Standbys(false, true, 0, 0, 0, 0).warning()).isNull();
    }
}
