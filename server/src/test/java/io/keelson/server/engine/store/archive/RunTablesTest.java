package io.keelson.server.engine.store.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Each table with rows of runs is in the archive, or stays for a reason. */
class RunTablesTest {

    private static final Map<String, String> STAY = Map.ofEntries(
            Map.entry("billing_ledger", "append-only; it stays when its runs are gone"),
            Map.entry("execution_commands", "their idempotency keys count without an end"),
            Map.entry("idempotency_cache", "ends after a day"), Map.entry("database_losses", "of the installation"),
            Map.entry("timers", "a run with timers is not archived"),
            Map.entry("work_queue", "a run with work is not archived"),
            Map.entry("work_messages", "about work"), Map.entry("live_texts", "of steps at work; lost in a crash"),
            Map.entry("artifact_uploads", "end after a day"),
            Map.entry("artifact_reservations", "of steps at work"),
            Map.entry("schedule_ticks", "decisions of a schedule"),
            Map.entry("result_cache", "a result is reused while its run is in the tables"),
            Map.entry("result_waits", "of steps at work"),
            Map.entry("trigger_deliveries", "end by a setting of their own"),
            Map.entry("archived_runs", "of the archive"), Map.entry("archived_files", "of the archive"),
            Map.entry("restored_runs", "of the archive"));

    @Test
    void everyTableOfRunsIsArchivedOrStays() throws Exception {
        try (Database database = TestDatabase.create()) {
            List<String> tables = database.withConnection(c -> {
                try (var s = c.createStatement(); var row = s.executeQuery("""
                        select distinct c.table_name from information_schema.columns c
                          join information_schema.tables t using (table_schema, table_name)
                         where c.table_schema = 'public' and t.table_type = 'BASE TABLE'
                           and c.column_name in ('run_id', 'step_id', 'task_id', 'loop_id', 'parent_run_id')""")) {
                    List<String> found = new ArrayList<>();
                    while (row.next()) {
                        found.add(row.getString(1));
                    }
                    return found;
                }
            });
            TreeSet<String> known = new TreeSet<>(STAY.keySet());
            RunTables.ALL.forEach(each -> known.add(each.name()));
            assertThat(new TreeSet<>(tables))
                    .as("list a new table in RunTables, or here with the reason why its rows stay")
                    .isSubsetOf(known);
        }
    }
}
