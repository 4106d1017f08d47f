package io.keelson.cli.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.DatabaseState;
import io.keelson.server.base.db.Standbys;
import java.util.List;
import org.junit.jupiter.api.Test;

class DatabaseStateChecksTest {

    private static final Standbys SYNCHRONOUS = new Standbys(true, true, 1, 1, 0, 0);

    private static List<String> texts(DatabaseState state) {
        return DatabaseStateChecks.of(state).stream()
                .map(each -> each.verdict() + " " + each.subject() + ": " + each.message()).toList();
    }

    @Test
    void healthyDatabaseHasNoWarning() {
        assertThat(texts(new DatabaseState(3, 1.2e9, SYNCHRONOUS, 0.2, 9e6, false))).containsExactly(
                "OK database size: 1.2 GB, timeline 3", "OK standbys: 1 synchronous, 1 asynchronous",
                "OK WAL archive: 9.0 MB are not archived");
        assertThat(texts(new DatabaseState(Double.NaN, 2e6, new Standbys(true, false, 0, 0, 0, 0), 0, Double.NaN,
                false))).containsExactly("OK database size: 2.0 MB", "OK standbys: 0 synchronous, 0 asynchronous");
    }

    @Test
    void backupsAreMissingOldOrRecent() {
        assertThat(DatabaseStateChecks.backups(Double.NaN).message()).isEqualTo("none is recorded");
        assertThat(DatabaseStateChecks.backups(200_000).verdict()).isEqualTo(CheckResult.Verdict.WARN);
        assertThat(DatabaseStateChecks.backups(80_000)).isEqualTo(
                CheckResult.ok("backups", "the latest one ended 22h 13m ago"));
    }

    @Test
    void eachDangerIsAWarning() {
        assertThat(texts(new DatabaseState(3, 1.2e9, new Standbys(true, true, 0, 0, 0, 0), 7_300, 3e8, true)))
                .contains("WARN transactions: the oldest transaction began 2h 01m ago",
                        "WARN WAL archive: 300.0 MB are not archived, and the last attempt failed")
                .anyMatch(text -> text.startsWith("WARN standbys: synchronous_standby_names is set"));
        assertThat(texts(new DatabaseState(3, 1.2e9, SYNCHRONOUS, 0, 3e8, false)))
                .contains("WARN WAL archive: 300.0 MB are not archived");
        assertThat(texts(new DatabaseState(3, 1.2e9, new Standbys(false, false, 0, 0, 0, 0), 0, Double.NaN, false)))
                .contains("WARN standbys: the database user sees neither standbys nor transactions of others");
    }
}
