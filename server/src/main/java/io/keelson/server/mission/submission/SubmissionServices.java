package io.keelson.server.mission.submission;

import io.keelson.server.base.db.Database;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.tenant.money.Money;
import io.keelson.server.tenant.workspace.ApprovalRules;

/** The parts of this package that one server shares between its callers, so that all count against the same limits. */
public record SubmissionServices(RecipeMissions missions, AdmissionControl admission, CreditPrecheck credits,
        RunSubmission runs, PlanEdits edits, ApprovalRules approvals) {

    /** @param approvals rules of workspaces, which new runs get if their missions are less strict */
    public static SubmissionServices of(RecipeMissions missions, Database database, RunReader reader, Money money,
            Commands commands, PlanEdits edits, ApprovalRules approvals) {
        AdmissionControl admission = new AdmissionControl(database, reader);
        CreditPrecheck credits = new CreditPrecheck(database, reader, money);
        return new SubmissionServices(missions, admission, credits,
                new RunSubmission(database, reader, commands, credits, admission, approvals), edits,
                approvals);
    }
}
