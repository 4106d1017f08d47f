package io.keelson.server.engine.commit;

import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.server.engine.store.KeyUse;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A queued command with its future reply. */
public final class PendingCommand {
    public final Command command;
    /** The idempotency key that it is submitted under; null if absent. */
    final @Nullable KeyUse key;
    /** Its text in characters, which is nearly all the memory of a large command. */
    final long text;
    final CompletableFuture<Reply> answer = new CompletableFuture<>();
    /** The steps that were executed before the creation of their run, or their claim, is committed; null if absent. */
    final @Nullable Executed executed;
    /** The reply to the report of those steps; {@link Reply#UNCHANGED} without a report or after a refusal. */
    final CompletableFuture<Reply> reported = new CompletableFuture<>();
    @Nullable public Reply reply;
    public @Nullable Reply reportReply;
    @Nullable public Throwable failure;

    public PendingCommand(Command command) {
        this(command, null);
    }

    PendingCommand(Command command, @Nullable KeyUse key) {
        this(command, key, null);
    }

    public PendingCommand(Command command, @Nullable KeyUse key, @Nullable Executed executed) {
        this.command = command;
        this.key = key;
        this.executed = executed;
        this.text = text(command) + (executed == null || executed.report() == null ? 0 : text(executed.report()));
    }

    private static long text(Command command) {
        return switch (command) {
            case Command.Create create -> (long) create.run().planJson().length() + create.run().configJson().length()
                    + create.run().inputsJson().length();
            case Command.Complete complete -> text(complete.result());
            case Command.CompleteChain chain -> chain.reports().stream().mapToLong(PendingCommand::text).sum();
            case Command.Continue another -> text(another.result());
            case Command.SendSignal signal -> signal.payload().length();
            case Command.AskModel ask -> ask.facts().length();
            case Command.CallTool call -> call.made().input().length();
            case Command.EndRequest end -> end.answer() == null ? 0 : end.answer().length();
            case Command.Evaluated evaluated -> text(evaluated.evaluation());
            default -> 0;
        };
    }

    private static long text(Result result) {
        return result.output().length() + result.proposals().stream().mapToLong(each -> each.title().length()
                + length(each.body()) + length(each.data())).sum();
    }

    private static long length(@Nullable String text) {
        return text == null ? 0 : text.length();
    }

    private static long text(Evaluation evaluation) {
        return switch (evaluation) {
            case Evaluation.Proceed(var items, _, _) ->
                items == null ? 0 : items.stream().mapToLong(String::length).sum();
            case Evaluation.Opened(String input, _, _) -> input.length();
            case Evaluation.Approved approved -> approved.input().length() + approved.output().length();
            case Evaluation.Starts starts -> starts.input().length();
            case Evaluation.ChildIs child -> child.output() == null ? 0 : child.output().length();
            case Evaluation.Awaits awaits -> awaits.input().length();
            case Evaluation.Output(String json) -> json.length();
            case Evaluation.Reused reused -> reused.output().length();
            case Evaluation.Undoes undoes -> undoes.run() == null ? 0 : undoes.run().planJson().length();
            case Evaluation.Planned(_, String json, _) -> json.length();
            case Evaluation.Skip _,Evaluation.Broken _,Evaluation.ParentIs _,Evaluation.Holds _,Evaluation.Repeats _,Evaluation.UndoIs _,Evaluation.ChildUndo _,Evaluation.ComputedBy _,Evaluation.Computes _ ->
                0;
        };
    }

    /** Resets the decision before the command is decided again. */
    void reset() {
        reply = null;
        reportReply = null;
        failure = null;
    }

    void answer() {
        if (failure != null) {
            fail(failure);
        } else {
            answer.complete(reply);
            reported.complete(reportReply == null ? Reply.UNCHANGED : reportReply);
        }
    }

    void fail(Throwable cause) {
        answer.completeExceptionally(cause);
        reported.completeExceptionally(cause);
    }
}
