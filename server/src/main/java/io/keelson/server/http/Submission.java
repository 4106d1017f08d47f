package io.keelson.server.http;

import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.engine.Commands;
import io.keelson.server.run.KeyUse;
import java.util.Arrays;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Submits commands and makes problem documents of refusals. */
final class Submission {

    private static final long PATIENCE_SECONDS = 30;

    private final Commands commands;

    Submission(Commands commands) {
        this.commands = commands;
    }

    /**
     * Returns when the command is committed. Under an idempotency key that was used nothing is submitted.
     *
     * @return whether it changed anything
     * @throws Refusal when it was refused; nothing has changed then
     */
    boolean submit(Call call, Command command) throws InterruptedException {
        Idempotency.Keyed keyed = call.keyed();
        if (keyed != null && keyed.repeated()) {
            return false;
        }
        return submit(command, keyed == null ? null : keyed.use().of(command.runId()));
    }

    /** As {@link #submit(Call, Command)} of what goes before the command that is asked for, and does no harm twice. */
    void prepare(Call call, Command command) throws InterruptedException {
        Idempotency.Keyed keyed = call.keyed();
        if (keyed == null || !keyed.repeated()) {
            submit(command, null);
        }
    }

    private boolean submit(Command command, @Nullable KeyUse use) throws InterruptedException {
        try {
            Reply reply = commands.submit(command, use).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (reply instanceof Reply.Rejected rejected) {
                throw refusal(rejected);
            }
            return reply instanceof Reply.Done(boolean changed) && changed;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Commands.RunNotFound) {
                throw IdKind.RUN.notFound(command.runId());
            }
            throw new CompletionException(e.getCause());
        } catch (TimeoutException e) {
            throw new CompletionException(e);
        }
    }

    private static Refusal refusal(Reply.Rejected rejected) {
        ErrorCode code = Arrays.stream(ErrorCode.values()).filter(each -> each.name().equals(rejected.code()))
                .findFirst().orElseThrow(() -> new IllegalStateException("undocumented refusal " + rejected.code()));
        Refusal refusal = Refusal.of(code, rejected.message()).allowing(rejected.allowed());
        return rejected.current() == null ? refusal : refusal.with("current_state", rejected.current());
    }
}
