package io.keelson.server.annex.s3;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.engine.store.archive.ArchiveContentReader;
import io.keelson.server.engine.store.archive.RunArchive;
import io.keelson.server.engine.upkeep.RunArchiver;
import io.keelson.server.engine.upkeep.RunArchiver.Ages;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Ended runs move to an object store, and come back from there as they were. */
@Breadth.InPart(1)
class S3ArchiveTest {

    private static final Instant ENDED = Instant.parse("2026-01-01T00:00:00Z");
    private static final long MAX_BYTES = 64L << 20;
    private static final String ROWS = """
            select string_agg(t::text, chr(10) order by t::text) from (
                select to_jsonb(r) as t from orchestration_runs r union all select to_jsonb(h) from run_heads h
                union all select to_jsonb(p) from run_event_packs p) rows""";

    @Test
    void runMovesToTheObjectStoreAndBack() throws Exception {
        UUID workspace = UUID.randomUUID();
        Instant now = ENDED.plus(Duration.ofDays(90));
        RunArchive archive = new RunArchive(() -> now);
        try (Database database = TestDatabase.create(); S3ArtifactStore store = S3ArtifactStore.open(
                ObjectStoreProcess.shared().settings(), MAX_BYTES, Duration.ofMinutes(1),
                ObjectStoreProcess.DATABASE)) {
            sql(database, "insert into workspaces (id, name) values ('" + workspace + "', 'w')");
            for (int i = 0; i < 3; i++) {
                sql(database, """
                        with r as (insert into orchestration_runs (id, workspace_id, title, goal, created_by, state, state_type,
                                completed_at, created_at, plan)
                            values (gen_random_uuid(), '%1$s', 'näme', 'g', 'me', 'completed', 'terminal', '%2$s', '%2$s', '{"b": 1.50}')
                            returning id),
                        h as (insert into run_heads (run_id, version_id, last_seq, steps_completed, total_tokens, total_cost, updated_at)
                            select id, 3, 20, 1, 7, 0.1, '%2$s' from r)
                        insert into run_event_packs (run_id, first_seq, created_at, body)
                            select id, 1, '%2$s', '[{"p": {"n": 1.0}, "e": "something"}]' from r""".formatted(workspace,
                        ENDED));
            }
            String before = text(database, ROWS);
            RunArchiver archiver = new RunArchiver(database, archive, store, new Ages(Duration.ofDays(90), null),
                    UUID::randomUUID, RunArchiver.Observer.NONE);
            assertThat(archiver.archive()).isEqualTo(3);
            assertThat(text(database, "select count(*)::text from orchestration_runs")).isEqualTo("0");

            List<RunArchive.Place> places = database.withConnection(c -> RunArchive.page(c, workspace, null, 10));
            ArchiveContentReader reader = new ArchiveContentReader(store);
            for (RunArchive.Place place : places) {
                byte[] content = reader.read(place);
                assertThat(RunArchive.verify(place, content)).isEqualTo(3);
                database.runInTransaction(c -> {
                    try {
                        archive.restore(c, place, content, "me");
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                });
            }
            assertThat(text(database, ROWS)).isEqualTo(before);
        }
    }

    private static void sql(Database database, String statement) {
        database.runInTransaction(c -> {
            try (var s = c.createStatement()) {
                s.execute(statement);
            }
        });
    }

    private static String text(Database database, String query) {
        return database.withConnection(c -> {
            try (var s = c.createStatement(); var row = s.executeQuery(query)) {
                row.next();
                return row.getString(1);
            }
        });
    }
}
