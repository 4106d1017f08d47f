package io.keelson.server.mission.submission;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.store.KeyUse;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.mission.plan.ExternalIdPolicy;
import io.keelson.server.mission.submission.SubmissionResult.ExternalIdTaken;
import io.keelson.server.mission.submission.SubmissionResult.LimitReached;
import io.keelson.server.mission.submission.SubmissionResult.Rejected;
import io.keelson.server.mission.submission.SubmissionResult.Submitted;
import io.keelson.server.tenant.workspace.ApprovalRules;
import io.keelson.server.tenant.workspace.Limits;
import java.sql.SQLException;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Submits new runs, for requests and schedules alike. A submission asks the database, in this order: for a run with the
 * same external id, for the available credits if the last minute's runs had too few, for the workspace's limits, and
 * commits. Thread-safe.
 */
public final class RunSubmission {

    private static final String UNIQUE_VIOLATION = "23505";
    private static final String INSUFFICIENT_CREDITS = "INSUFFICIENT_CREDITS";

    private final Database database;
    private final RunReader reader;
    private final Commands commands;
    private final CreditPrecheck credits;
    private final AdmissionControl admission;
    private final ApprovalRules approvals;

    /** @param approvals rules of workspaces, which new runs get if their missions are less strict */
    public RunSubmission(Database database, RunReader reader, Commands commands, CreditPrecheck credits,
            AdmissionControl admission, ApprovalRules approvals) {
        this.approvals = approvals;
        this.database = database;
        this.reader = reader;
        this.commands = commands;
        this.credits = credits;
        this.admission = admission;
    }

    /**
     * A run to create.
     *
     * @param limits of the run's workspace
     * @param key the idempotency key that the commit uses; null if absent
     * @param repeated whether the key was used before: the run was created then, nothing is committed again
     */
    public record Request(Command.Create create, ExternalIdPolicy externalIdPolicy, Limits limits,
            @Nullable KeyUse key, boolean repeated) {

        private NewRun run() {
            return create.run();
        }
    }

    /**
     * Returns when the run is committed, or nothing was changed.
     *
     * @throws CompletionException with {@link Commands.KeyUsed} if another request used the key meanwhile; with another
     *     cause if the database could not be reached and the outcome is unknown
     */
    public SubmissionResult submit(Request request) throws InterruptedException {
        Optional<SubmissionResult> refused =
                credits.isNeeded(request.run().workspaceId()) ? check(request) : holder(request);
        if (refused.isPresent()) {
            return refused.get();
        }
        return switch (admission.admit(request.run().workspaceId(), request.limits(), request.run().id())) {
            case LimitReached reached -> reached;
            case AdmissionControl.Permit permit -> {
                try (permit) {
                    yield request.repeated() ? new Submitted(request.run().id(), true) : commit(request);
                }
            }
        };
    }

    /** Checks what {@link #submit} would refuse first; creates nothing. */
    public Optional<SubmissionResult> check(Request request) {
        NewRun run = request.run();
        Optional<SubmissionResult> holder = holder(request);
        if (holder.isPresent() || request.repeated() || run.startAt() != null) {
            return holder;
        }
        return credits.start(run.workspaceId(), run.id(), run.policy().budget()).map(SubmissionResult.class::cast);
    }

    private SubmissionResult commit(Request request) throws InterruptedException {
        try {
            if (commands.commit(ruled(request.create()), request.key()) instanceof Reply.Rejected rejected) {
                if (rejected.code().equals(INSUFFICIENT_CREDITS)) {
                    credits.refused(request.run().workspaceId());
                }
                return new Rejected(rejected);
            }
            return new Submitted(request.run().id(), true);
        } catch (CompletionException e) {
            if (!(e.getCause() instanceof SQLException sql) || !UNIQUE_VIOLATION.equals(sql.getSQLState())) {
                throw e;
            }
            return holder(request).or(() -> created(request.run().id())).orElseThrow(() -> e);
        }
    }

    /** The command for a run that has the rules of its workspace. */
    private Command.Create ruled(Command.Create create) {
        NewRun run = create.run();
        ApprovalRules.Required rule = approvals.ofNewRun(run.workspaceId());
        return new Command.Create(run.approvedBy(rule.approvals(), rule.fourEyes()), create.start(), create.actor());
    }

    /** The run that has the external id: a conflict, or the answer. */
    private Optional<SubmissionResult> holder(Request request) {
        NewRun run = request.run();
        String externalId = run.externalId();
        if (externalId == null) {
            return Optional.empty();
        }
        return database.withConnection(c -> reader.byExternalId(c, run.workspaceId(), externalId))
                .filter(holder -> !holder.equals(run.id()))
                .filter(holder -> request.externalIdPolicy() != ExternalIdPolicy.AFTER_END
                        || !ended(run.workspaceId(), holder))
                .map(holder -> request.externalIdPolicy() == ExternalIdPolicy.EXISTING ? new Submitted(holder, false)
                        : new ExternalIdTaken(holder));
    }

    /** A run without a state is archived. */
    private boolean ended(UUID workspace, UUID run) {
        return database.withConnection(c -> reader.state(c, workspace, run)).map(RunState::terminal).orElse(true);
    }

    /** A run of this id, deleted ones included. */
    private Optional<SubmissionResult> created(UUID run) {
        return database.withConnection(c -> reader.progress(c, Set.of(run))).isEmpty() ? Optional.empty()
                : Optional.of(new Submitted(run, false));
    }
}
