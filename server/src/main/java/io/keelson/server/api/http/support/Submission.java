package io.keelson.server.api.http.support;

import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.store.KeyUse;
import io.keelson.server.tenant.auth.Scope;
import java.util.Arrays;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Submits commands and makes problem documents of refusals. */
public final class Submission {

    private final Commands commands;
    private final ApproverRule approvers;

    public Submission(Commands commands, ApproverRule approvers) {
        this.commands = commands;
        this.approvers = approvers;
    }

    /**
     * Requires the scope {@code approve} for a request that ends a question without an answer, and one person's approval to be enough:
     * another one's than the submitter's, if the run has that rule.
     */
    public void requireApprover(ApiRequest request, UUID run) {
        request.require(Scope.APPROVE);
        approvers.requireAlone(request, run);
    }

    /**
     * Returns when the command is committed. Under an idempotency key that was used nothing is submitted.
     *
     * @return whether it changed anything
     * @throws ApiProblem when it was refused; nothing has changed then
     */
    public boolean submit(ApiRequest request, Command command) throws InterruptedException {
        if (request.repeats()) {
            return false;
        }
        return submit(approvers.checked(request, command), request.keyUse(command.runId()));
    }

    /** Submits a preparatory, idempotent command. It uses no idempotency key. */
    public void prepare(ApiRequest request, Command command) throws InterruptedException {
        if (!request.repeats()) {
            submit(command, null);
        }
    }

    private boolean submit(Command command, @Nullable KeyUse use) throws InterruptedException {
        Reply reply = commit(command, use);
        if (reply instanceof Reply.Rejected rejected) {
            throw problem(rejected);
        }
        return reply instanceof Reply.Done(boolean changed) && changed;
    }

    private Reply commit(Command command, @Nullable KeyUse use) throws InterruptedException {
        try {
            return commands.commit(command, use);
        } catch (Commands.RunNotFound e) {
            throw IdKind.RUN.notFound(command.runId());
        }
    }

    /** The problem of a command that the engine refused. */
    public static ApiProblem problem(Reply.Rejected rejected) {
        ErrorCode code = Arrays.stream(ErrorCode.values()).filter(each -> each.name().equals(rejected.code()))
                .findFirst().orElseThrow(() -> new IllegalStateException("undocumented refusal " + rejected.code()));
        ApiProblem problem = ApiProblem.of(code, rejected.message()).allowing(rejected.allowed());
        return rejected.current() == null ? problem : problem.with("current_state", rejected.current());
    }
}
