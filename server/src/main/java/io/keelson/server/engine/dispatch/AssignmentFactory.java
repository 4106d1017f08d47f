package io.keelson.server.engine.dispatch;

import io.keelson.api.Absent;
import io.keelson.api.worker.WorkItem;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.PreviousFailure;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepAssignment;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TraceParent;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.expr.ExpressionException;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.execute.RecordedInput;
import io.keelson.server.engine.execute.Scopes;
import io.keelson.server.engine.execute.Scopes.ToolInput;
import io.keelson.server.engine.execute.Tracing;
import io.keelson.server.engine.store.read.StepWorkReader;
import io.keelson.server.engine.store.read.StepWorkReader.Owner;
import io.keelson.server.engine.store.read.StepWorkReader.StepWork;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/** Creates the assignments that are sent to remote workers. */
final class AssignmentFactory {
    private final Database database;
    private final StepWorkReader reader;
    private final Scopes scopes;
    private final Function<Command, CompletableFuture<Reply>> commands;
    private final Tracing tracing;
    private final AssignedSteps assigned;
    private final GatewayAccess gateway;

    AssignmentFactory(Database database, StepWorkReader reader, Scopes scopes,
            Function<Command, CompletableFuture<Reply>> commands, Tracing tracing, AssignedSteps assigned,
            GatewayAccess gateway) {
        this.database = database;
        this.reader = reader;
        this.scopes = scopes;
        this.commands = commands;
        this.tracing = tracing;
        this.assigned = assigned;
        this.gateway = gateway;
    }

    /** The step that a reply gives to its worker; null if absent. */
    static @Nullable UUID stepOf(Reply reply) {
        return switch (reply) {
            case Reply.Claimed(StepAssignment given) -> given.stepId();
            case Reply.Duplicate(UUID next, String output) -> next;
            case Reply.Done d -> null;
            case Reply.Metered m -> null;
            case Reply.Taken t -> null;
            case Reply.Paid p -> null;
            case Reply.Rejected r -> null;
        };
    }

    /**
     * The assignments of the replies' steps, by id and in order. Omits a step whose input cannot be resolved, which
     * fails, and a step that the worker no longer holds.
     */
    Map<UUID, WorkItem> items(UUID workspace, String worker, Collection<? extends Reply> replies) {
        Map<UUID, StepWork> read = read(replies);
        Map<UUID, WorkItem> items = new LinkedHashMap<>();
        for (Reply reply : replies) {
            UUID step = stepOf(reply);
            if (step != null) {
                StepWork known = read.get(step);
                if (reply instanceof Reply.Claimed(StepAssignment given) && isFirst(given)) {
                    add(items, workspace, given, null);
                } else if (known != null && worker.equals(known.holder())) {
                    add(items, workspace, reply instanceof Reply.Claimed(StepAssignment given)
                            ? work(known).withFollowing(given.following())
                            : work(known), known.details());
                }
            }
        }
        return items;
    }

    /** Without an earlier holder there are no details to read: the decision has all facts. */
    private static boolean isFirst(StepAssignment given) {
        return given.leaseEpoch() == 1;
    }

    private Map<UUID, StepWork> read(Collection<? extends Reply> replies) {
        List<UUID> steps = new ArrayList<>();
        for (Reply reply : replies) {
            UUID step = stepOf(reply);
            if (step != null && !(reply instanceof Reply.Claimed(StepAssignment given) && isFirst(given))) {
                steps.add(step);
            }
        }
        return steps.isEmpty() ? Map.of() : database.withConnection(c -> reader.work(c, steps));
    }

    private void add(Map<UUID, WorkItem> items, UUID workspace, StepAssignment assignment, @Nullable String details) {
        try {
            ToolInput input =
                    scopes.resolveInput(workspace, assignment.runId(), assignment.taskId(), assignment.input());
            assigned.put(workspace, assignment.stepId(), assignment.leaseEpoch(), owner(assignment),
                    RecordedInput.of(assignment.input(), input));
            items.put(assignment.stepId(), new WorkItem(assignment.stepId(), assignment.runId(), assignment.taskId(),
                    assignment.tool(), input.json(),
                    assignment.attempt(), assignment.leaseEpoch(), assignment.leaseExpiresAt(),
                    Objects.requireNonNull(assignment.deadline()),
                    assignment.effectKey(), Absent.asNull(failure(assignment.previous())),
                    details == null ? NullNode.getInstance() : Json.read(details), trace(assignment),
                    assignment.maxOutputTokens(), gateway.of(workspace, assignment),
                    following(workspace, assignment)));
        } catch (ExpressionException e) {
            var _ = commands.apply(new Command.Fail(assignment.runId(), assignment.stepId(), assignment.leaseEpoch(),
                    new StepError(e.code(), Scopes.errorClass(e), "the step's input: " + e.getMessage()),
                    Result.of("null"), Actor.SYSTEM));
        }
    }

    /** The steps that follow, up to one whose input is not known yet, or whose program needs a lease for its requests. */
    private List<WorkItem.Following> following(UUID workspace, StepAssignment first) {
        List<WorkItem.Following> items = new ArrayList<>();
        for (StepAssignment next : first.following()) {
            try {
                if (!scopes.isResolvable(next.input()) || gateway.of(workspace, next) != null) {
                    return items;
                }
                ToolInput input = scopes.resolveInput(workspace, next.runId(), next.taskId(), next.input());
                assigned.put(workspace, next.stepId(), next.leaseEpoch(), owner(next),
                        RecordedInput.of(next.input(), input));
                items.add(new WorkItem.Following(next.stepId(), next.tool(), input.json(), next.attempt(),
                        next.leaseEpoch(), Objects.requireNonNull(next.deadline()), next.effectKey(), trace(next)));
            } catch (ExpressionException e) {
                return items;
            }
        }
        return items;
    }

    private @Nullable String trace(StepAssignment step) {
        TraceParent trace = tracing.ofStep(step.trace(), step.stepId(), step.leaseEpoch());
        return trace == null ? null : trace.text();
    }

    private static Owner owner(StepAssignment assignment) {
        return new Owner(assignment.runId(), assignment.taskId(),
                assignment.input().contains("${") ? assignment.input() : null);
    }

    private static StepAssignment work(StepWork step) {
        return new StepAssignment(step.runId(), step.taskId(), step.stepId(), step.tool(), step.input(), step.attempt(),
                step.leaseEpoch(), Objects.requireNonNull(step.leaseExpiresAt()), step.deadline(), step.effectKey(),
                step.previous(), step.trace(), step.maxOutputTokens());
    }

    /** The last failure; in a task's further attempt also its number and the end of the previous one. */
    private static @Nullable JsonNode failure(@Nullable PreviousFailure previous) {
        if (previous == null) {
            return null;
        }
        StepError last = previous.step() == null ? previous.task() : previous.step();
        ObjectNode context = error(Objects.requireNonNull(last));
        if (previous.task() != null) {
            context.put("task_attempt", previous.taskAttempt()).set("task_failure", error(previous.task()));
        }
        return context;
    }

    private static ObjectNode error(StepError error) {
        return Json.object().put("error_code", error.code()).put("error_class", error.errorClass().wire())
                .put("message", error.message());
    }
}
