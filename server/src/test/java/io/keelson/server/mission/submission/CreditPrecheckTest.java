package io.keelson.server.mission.submission;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.Engine;
import io.keelson.server.engine.Nodes;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.mission.plan.ExternalIdPolicy;
import io.keelson.server.tenant.money.Money;
import io.keelson.server.tenant.workspace.ApprovalRules;
import io.keelson.server.tenant.workspace.Limits;
import io.keelson.server.tenant.workspace.WorkspaceStore;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CreditPrecheckTest {
    private static final String MISSION = """
            name: n
            goal: g
            plan: {total_estimated_cost: %d, tasks: [{id: a, steps: [{tool: noop}]}]}
            """;
    private static final long TOO_DEAR = 900_000_000;

    @Test
    void commitRefusesFirstAndTheCheckForAMinute(@TempDir Path folder) throws Exception {
        try (Nodes nodes = new Nodes(folder)) {
            AtomicLong time = new AtomicLong();
            RunReader reader = new RunReader();
            CreditPrecheck credits =
                    new CreditPrecheck(nodes.database, reader, new Money(nodes.database, DbClock.DATABASE), time::get);
            RunSubmission submission = submission(nodes, reader, nodes.node(), credits);

            assertThat(submission.submit(run(nodes, 1))).isInstanceOf(SubmissionResult.Submitted.class);
            assertThat(credits.isNeeded(Nodes.WORKSPACE)).isFalse();

            assertThat(submission.submit(run(nodes, TOO_DEAR)))
                    .isInstanceOfSatisfying(SubmissionResult.Rejected.class,
                            by -> assertThat(by.reply()).extracting(Reply.Rejected::code)
                                    .isEqualTo("INSUFFICIENT_CREDITS"));
            assertThat(submission.submit(run(nodes, TOO_DEAR)))
                    .isInstanceOf(SubmissionResult.InsufficientCredits.class);
            assertThat(submission.submit(run(nodes, 1))).isInstanceOf(SubmissionResult.Submitted.class);
            assertThat(submission.submit(run(nodes, TOO_DEAR)))
                    .isInstanceOf(SubmissionResult.InsufficientCredits.class);

            time.addAndGet(CreditPrecheck.CHECKED.toNanos());
            assertThat(submission.submit(run(nodes, TOO_DEAR))).isInstanceOf(SubmissionResult.Rejected.class);
            assertThat(nodes.count("select count(*) from orchestration_runs")).isEqualTo(2);
        }
    }

    private static RunSubmission submission(Nodes nodes, RunReader reader, Engine engine, CreditPrecheck credits) {
        return new RunSubmission(nodes.database, reader, engine, credits, new AdmissionControl(nodes.database, reader),
                new ApprovalRules(nodes.database, new WorkspaceStore(nodes.database), Set.of(), Set.of()));
    }

    private static RunSubmission.Request run(Nodes nodes, long cost) {
        return new RunSubmission.Request(new Command.Create(nodes.run(MISSION.formatted(cost)), true, Nodes.WHO),
                ExternalIdPolicy.REJECT, Limits.NONE, null, false);
    }
}
