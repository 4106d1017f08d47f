package io.keelson.server.mission.submission;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.tenant.LimitName;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.mission.bulk.BulkRetryAdmission.Answer;
import io.keelson.server.mission.submission.SubmissionResult.LimitReached;
import io.keelson.server.tenant.workspace.Limits;
import io.keelson.server.tenant.workspace.WorkspaceStore;
import java.math.BigDecimal;
import java.sql.Statement;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class AdmissionControlTest {

    private static final int LIMIT = 5;
    private static final int SUBMITTERS = 20;

    private static Database database;

    private final AdmissionControl admission = new AdmissionControl(database, new RunReader());
    private final UUID workspace = workspace();

    @BeforeAll
    static void open() {
        database = TestDatabase.create();
    }

    @AfterAll
    static void close() {
        database.close();
    }

    @Test
    void concurrentSubmissionsNeverExceedTheLimit() throws Exception {
        CyclicBarrier start = new CyclicBarrier(SUBMITTERS);
        Callable<AdmissionControl.Admission> submitter = () -> {
            start.await();
            return admission.admit(workspace, limits(LIMIT), UUID.randomUUID());
        };
        List<AdmissionControl.Admission> answers;
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            answers = threads.invokeAll(Collections.nCopies(SUBMITTERS, submitter)).stream()
                    .map(Future::resultNow).toList();
        }

        assertThat(answers.stream().filter(AdmissionControl.Permit.class::isInstance)).hasSize(LIMIT);
        answers.forEach(AdmissionControlTest::release);
        for (int i = 0; i < LIMIT; i++) {
            assertThat(admission.admit(workspace, limits(LIMIT), UUID.randomUUID()))
                    .isInstanceOf(AdmissionControl.Permit.class);
        }
        assertThat(admission.admit(workspace, limits(LIMIT), UUID.randomUUID())).isInstanceOfSatisfying(
                LimitReached.class, reached -> assertThat(reached.code()).isEqualTo("OPEN_RUNS_LIMIT_REACHED"));
    }

    @Test
    void bulkRetryCountsUntilItIsReleased() {
        execute("insert into workspace_limits (workspace_id, name, most) values ('" + workspace + "', 'open_runs', 1)");
        RetryAdmission retries = new RetryAdmission(new WorkspaceStore(database), admission);

        Answer.Admitted retry = (Answer.Admitted) retries.admit(workspace);
        assertThat(retries.admit(workspace)).isEqualTo(new Answer.LimitReached("OPEN_RUNS_LIMIT_REACHED"));
        assertThat(admission.admit(workspace, limits(1), UUID.randomUUID())).isInstanceOf(LimitReached.class);

        retry.release().run();
        assertThat(admission.admit(workspace, limits(1), UUID.randomUUID()))
                .isInstanceOf(AdmissionControl.Permit.class);
    }

    @Test
    void closedWorkspaceAdmitsNoRetry() {
        execute("update workspaces set closed_at = now() where id = '" + workspace + "'");

        assertThat(new RetryAdmission(new WorkspaceStore(database), admission).admit(workspace))
                .isEqualTo(new Answer.Closed());
    }

    private static Limits limits(long openRuns) {
        return new Limits(Map.of(LimitName.OPEN_RUNS.text(), BigDecimal.valueOf(openRuns)));
    }

    private static void release(AdmissionControl.Admission answer) {
        if (answer instanceof AdmissionControl.Permit permit) {
            permit.close();
        }
    }

    private static UUID workspace() {
        UUID id = UUID.randomUUID();
        execute("insert into workspaces (id, name) values ('" + id + "', 'admission " + id + "')");
        return id;
    }

    private static void execute(String sql) {
        database.runInTransaction(c -> {
            try (Statement statement = c.createStatement()) {
                statement.execute(sql);
            }
        });
    }
}
