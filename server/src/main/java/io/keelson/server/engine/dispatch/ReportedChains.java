package io.keelson.server.engine.dispatch;

import io.keelson.core.run.Command;
import io.keelson.core.run.NextStepRequest;
import io.keelson.core.run.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Results in one request of a worker. Consecutive results of one task are one command: the worker has executed these steps one after
 * another. Where that command is not recorded as a whole, each of the other results is a command of its own, so every result has the
 * reply that it would have alone. Behind the result of a lost lease, the worker must hold the steps: their leases would have begun with that result,
 * and another worker's lease may have the same epoch.
 */
final class ReportedChains {
    private final Function<Command, CompletableFuture<Reply>> commands;
    private final @Nullable NextStepRequest request;
    private final List<CompletableFuture<List<Reply>>> replies = new ArrayList<>();
    private final List<Command.Complete> chain = new ArrayList<>();
    private @Nullable UUID task;
    private int slots;

    /**
     * @param request for the step behind each command; null if absent
     * @param slots the number of commands that have the request
     */
    ReportedChains(Function<Command, CompletableFuture<Reply>> commands, @Nullable NextStepRequest request, int slots) {
        this.commands = commands;
        this.request = request;
        this.slots = slots;
    }

    /** Adds a result, without a request. */
    void add(UUID of, Command.Complete result) {
        if (!of.equals(task) || chain.stream().anyMatch(each -> each.stepId().equals(result.stepId()))) {
            submit();
            task = of;
        }
        chain.add(result);
    }

    /** Adds the reply to a result without a command. */
    void add(Reply reply) {
        submit();
        replies.add(CompletableFuture.completedFuture(List.of(reply)));
    }

    /** Waits for the replies to all results, in their order. */
    List<Reply> replies() {
        submit();
        List<Reply> all = new ArrayList<>();
        replies.forEach(each -> all.addAll(each.join()));
        return all;
    }

    private void submit() {
        if (!chain.isEmpty()) {
            replies.add(submit(List.copyOf(chain), slots > 0 ? request : null));
            slots--;
            chain.clear();
        }
        task = null;
    }

    private CompletableFuture<List<Reply>> submit(List<Command.Complete> results, @Nullable NextStepRequest next) {
        if (results.size() == 1) {
            return oneByOne(results, next, false);
        }
        List<Command.Report> reports = new ArrayList<>();
        results.forEach(result -> reports.add(requesting(result, next)));
        return commands
                .apply(new Command.CompleteChain(reports.getFirst().runId(), reports, false,
                        results.getFirst().actor()))
                .exceptionally(failure -> new Reply.Taken(List.of()))
                .thenCompose(reply -> rest(results, (Reply.Taken) reply, next));
    }

    private CompletableFuture<List<Reply>> rest(List<Command.Complete> results, Reply.Taken taken,
            @Nullable NextStepRequest next) {
        List<Command.Complete> others = results.subList(taken.reports(), results.size());
        return oneByOne(others, next, isLost(taken.refusal())).thenApply(replied -> {
            List<Reply> all = new ArrayList<>(taken.replies());
            all.addAll(replied);
            return all;
        });
    }

    private static boolean isLost(@Nullable Reply refusal) {
        return refusal instanceof Reply.Rejected rejected && rejected.code().equals("STALE_LEASE");
    }

    /** @param held whether the worker must hold the steps */
    private CompletableFuture<List<Reply>> oneByOne(List<Command.Complete> results, @Nullable NextStepRequest next,
            boolean held) {
        List<CompletableFuture<Reply>> each = new ArrayList<>();
        for (Command.Complete result : results) {
            Command.Complete report = requesting(result, next);
            each.add(WorkerReports.orNotFound(held ? ofHolder(report) : commands.apply(report)));
        }
        return CompletableFuture.allOf(each.toArray(CompletableFuture[]::new))
                .thenApply(_ -> each.stream().map(CompletableFuture::join).toList());
    }

    private CompletableFuture<Reply> ofHolder(Command.Complete report) {
        return commands
                .apply(new Command.CompleteChain(report.runId(), List.of(report), false, true, report.actor()))
                .thenApply(Reply.Taken.class::cast)
                .thenApply(taken -> Objects.requireNonNullElseGet(taken.refusal(), taken.replies()::getFirst));
    }

    private static Command.Complete requesting(Command.Complete result, @Nullable NextStepRequest next) {
        return new Command.Complete(result.runId(), result.stepId(), result.epoch(), result.result(), next,
                result.lost(), result.actor());
    }
}
