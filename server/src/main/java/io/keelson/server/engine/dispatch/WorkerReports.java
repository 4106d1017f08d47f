package io.keelson.server.engine.dispatch;

import io.keelson.api.Absent;
import io.keelson.api.worker.Completion;
import io.keelson.api.worker.Failure;
import io.keelson.api.worker.Heartbeat;
import io.keelson.api.worker.Release;
import io.keelson.api.worker.Report;
import io.keelson.api.worker.ReportAnswer;
import io.keelson.api.worker.WorkItem;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewArtifact;
import io.keelson.core.run.NextStepRequest;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.server.base.artifact.ArtifactOwner;
import io.keelson.server.base.artifact.ArtifactRefusedException;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.expr.ExpressionException;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.execute.ArtifactIntake;
import io.keelson.server.engine.execute.ProposalTexts;
import io.keelson.server.engine.execute.RecordedInput;
import io.keelson.server.engine.execute.Scopes;
import io.keelson.server.engine.execute.VerdictText;
import io.keelson.server.engine.store.read.StepWorkReader;
import io.keelson.server.engine.store.read.StepWorkReader.Owner;
import io.keelson.server.engine.store.retention.Uploads.Uploaded;
import io.keelson.server.tenant.secret.Redaction;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Reports of remote workers become the commands of this node's own executors. Each call takes a batch and answers every item; an
 * item of another workspace gets the answer of an unknown one.
 */
public final class WorkerReports {
    static final Reply NOT_FOUND = new Reply.Rejected("STEP_NOT_FOUND", "there is no such step", null, List.of());

    private final Database database;
    private final StepWorkReader work;
    private final AssignedSteps assigned;
    private final AssignmentFactory assignmentFactory;
    private final RepeatedReports repeated;
    private final Scopes scopes;
    private final WorkerHeartbeats heartbeats;
    private final ArtifactIntake artifacts;
    private final ArtifactUploads uploads;
    private final Function<Command, CompletableFuture<Reply>> commands;
    private final RemoteDispatch.Turns turns;

    WorkerReports(Database database, StepWorkReader work, AssignedSteps assigned, AssignmentFactory assignmentFactory,
            Scopes scopes, WorkerHeartbeats heartbeats, ArtifactIntake artifacts, ArtifactUploads uploads,
            Function<Command, CompletableFuture<Reply>> commands, RemoteDispatch.Turns turns) {
        this.database = database;
        this.work = work;
        this.assigned = assigned;
        this.assignmentFactory = assignmentFactory;
        this.repeated = new RepeatedReports(database, work);
        this.scopes = scopes;
        this.heartbeats = heartbeats;
        this.artifacts = artifacts;
        this.uploads = uploads;
        this.commands = commands;
        this.turns = turns;
    }

    /** Stores progress and log lines of reports while their leases last. */
    private void note(UUID workspaceId, String workerId, List<? extends Report.WithNotes> items) {
        List<Heartbeat> beats = items.stream().filter(ReportedValues::hasNotes).map(ReportedValues::notes).toList();
        if (!beats.isEmpty()) {
            var _ = heartbeats.take(workspaceId, workerId, beats);
        }
    }

    /**
     * Reports results. Results of consecutive steps of a task are one command.
     *
     * @param request null to request no next step
     * @param slots so many of the commands, from the first on, have the request
     */
    List<ReportAnswer> complete(UUID workspaceId, String workerId, List<Completion> items,
            @Nullable NextStepRequest request, int slots) {
        note(workspaceId, workerId, items);
        Map<UUID, Uploaded> uploaded = uploaded(workspaceId, items);
        Map<UUID, Owner> owners = owners(workspaceId, items);
        ReportedChains chains = new ReportedChains(commands, request, slots);
        for (Completion item : items) {
            Owner owner = owners.get(item.stepId());
            try {
                if (owner == null) {
                    chains.add(NOT_FOUND);
                } else {
                    chains.add(owner.taskId(), new Command.Complete(owner.runId(), item.stepId(), item.leaseEpoch(),
                            result(workspaceId, owner, redaction(workspaceId, owner), uploaded, item),
                            Actor.agent(workerId)));
                }
            } catch (Refused e) {
                chains.add(e.reply());
            }
        }
        List<Reply> replies = repeated.judged(items, chains.replies());
        Set<UUID> reported = items.stream().map(Completion::stepId).collect(Collectors.toSet());
        Map<UUID, WorkItem> given = assignmentFactory.items(workspaceId, workerId,
                replies.stream().filter(reply -> !reported.contains(AssignmentFactory.stepOf(reply))).toList());
        List<ReportAnswer> answers = new ArrayList<>();
        for (int i = 0; i < replies.size(); i++) {
            UUID step = AssignmentFactory.stepOf(replies.get(i));
            answers.add(answer(items.get(i).stepId(), replies.get(i), step == null ? null : given.get(step)));
        }
        return answers;
    }

    /** Reports turns: like {@link #complete}, but each task gets another turn a second later. */
    public List<ReportAnswer> another(UUID workspaceId, String workerId, List<Completion> items) {
        note(workspaceId, workerId, items);
        Map<UUID, Uploaded> uploaded = uploaded(workspaceId, items);
        return report(workspaceId, items,
                (owner, redaction, item) -> new Command.Continue(owner.runId(), item.stepId(), item.leaseEpoch(),
                        result(workspaceId, owner, redaction, uploaded, item), Actor.agent(workerId)));
    }

    private Map<UUID, Uploaded> uploaded(UUID workspaceId, List<Completion> items) {
        return uploads.find(workspaceId,
                items.stream().flatMap(item -> item.uploads().stream().map(Completion.Upload::uploadId)).toList());
    }

    /** Reports failures. */
    public List<ReportAnswer> fail(UUID workspaceId, String workerId, List<Failure> items) {
        note(workspaceId, workerId, items);
        return report(workspaceId, items,
                (owner, redaction, item) -> new Command.Fail(owner.runId(), item.stepId(), item.leaseEpoch(),
                        ReportedValues.error(redaction, item.errorCode(), item.errorClass(), item.message(),
                                item.retryAfterMs()),
                        ReportedValues.spent(redaction, item)
                                .withInput(input(workspaceId, owner, item.stepId(), item.leaseEpoch())),
                        Actor.agent(workerId)));
    }

    /** Returns leases without a result. */
    public List<ReportAnswer> release(UUID workspaceId, String workerId, List<Release> items) {
        return report(workspaceId, items,
                (owner, redaction, item) -> new Command.Release(owner.runId(), item.stepId(), item.leaseEpoch(),
                        ReportedValues.deferral(redaction, item.deferral()), Actor.agent(workerId)));
    }

    /** A report that cannot be accepted as it is. */
    private static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final String code;

        private Refused(ArtifactRefusedException cause) {
            super(cause.getMessage(), cause);
            this.code = cause.code();
        }

        private Reply reply() {
            return new Reply.Rejected(code, String.valueOf(getMessage()), null, List.of());
        }
    }

    private interface CommandOf<T> {
        Command of(Owner owner, Redaction redaction, T item);
    }

    private <T extends Report> List<ReportAnswer> report(UUID workspaceId, List<T> items, CommandOf<T> command) {
        List<Reply> replies = send(workspaceId, items, command);
        List<ReportAnswer> answers = new ArrayList<>();
        for (int i = 0; i < replies.size(); i++) {
            answers.add(answer(items.get(i).stepId(), replies.get(i), null));
        }
        return answers;
    }

    private <T extends Report> List<Reply> send(UUID workspaceId, List<T> items, CommandOf<T> command) {
        Map<UUID, Owner> owners = owners(workspaceId, items);
        List<CompletableFuture<Reply>> replies = new ArrayList<>();
        for (T item : items) {
            Owner owner = owners.get(item.stepId());
            replies.add(owner == null ? CompletableFuture.completedFuture(NOT_FOUND)
                    : send(owner, redaction(workspaceId, owner), item, command));
        }
        return repeated.judged(items, replies.stream().map(CompletableFuture::join).toList());
    }

    /** Reads only the owners of steps that another node assigned or that were reported before. */
    private Map<UUID, Owner> owners(UUID workspaceId, List<? extends Report> items) {
        Map<UUID, Owner> owners = new HashMap<>();
        List<UUID> unknown = new ArrayList<>();
        for (Report item : items) {
            UUID step = item.stepId();
            Owner owner = assigned.owner(workspaceId, step, item.leaseEpoch());
            if (owner == null) {
                unknown.add(step);
            } else {
                owners.put(step, owner);
            }
        }
        if (!unknown.isEmpty()) {
            owners.putAll(database.withConnection(c -> work.ownersOf(c, workspaceId, unknown)));
        }
        return owners;
    }

    private Redaction redaction(UUID workspaceId, @Nullable Owner owner) {
        return owner == null || owner.input() == null ? Redaction.NONE : scopes.redaction(workspaceId, owner.input());
    }

    private <T> CompletableFuture<Reply> send(Owner owner, Redaction redaction, T item,
            CommandOf<T> command) {
        try {
            return orNotFound(commands.apply(command.of(owner, redaction, item)));
        } catch (Refused e) {
            return CompletableFuture.completedFuture(e.reply());
        }
    }

    /** The run may go before its report is decided. */
    static CompletableFuture<Reply> orNotFound(CompletableFuture<Reply> reply) {
        return reply.exceptionallyCompose(
                failure -> failure instanceof Commands.RunNotFound ? CompletableFuture.completedFuture(NOT_FOUND)
                        : CompletableFuture.failedFuture(failure));
    }

    static ReportAnswer answer(UUID step, Reply reply, @Nullable WorkItem next) {
        return switch (reply) {
            case Reply.Done d -> ReportAnswer.ok(step, null, null);
            case Reply.Metered m -> ReportAnswer.ok(step, null, null);
            case Reply.Taken t -> ReportAnswer.ok(step, null, null);
            case Reply.Paid p -> ReportAnswer.ok(step, null, null);
            case Reply.Claimed c -> ReportAnswer.ok(step, null, next);
            case Reply.Duplicate d ->
                ReportAnswer.duplicate(step, next, d.output() == null ? null : Json.read(d.output()));
            case Reply.Rejected(String code, String message, String current, List<String> allowed) ->
                ReportAnswer.refused(step, status(code), code, message);
        };
    }

    private static String status(String code) {
        return switch (code) {
            case "STALE_LEASE" -> "stale_lease";
            case "STEP_NOT_FOUND" -> "not_found";
            case "RETRY_SUCCEEDED" -> "duplicate";
            case RepeatedReports.CONFLICT -> "conflict";
            default -> "rejected";
        };
    }

    /** The step's input; resolved again where another node has assigned it. */
    private @Nullable String input(UUID workspace, Owner owner, UUID step, int epoch) {
        String known = assigned.take(workspace, step, epoch);
        if (known != null || owner.input() == null) {
            return known;
        }
        try {
            return RecordedInput.of(owner.input(),
                    scopes.resolveInput(workspace, owner.runId(), owner.taskId(), owner.input()));
        } catch (ExpressionException e) {
            return null;
        }
    }

    private Result result(UUID workspace, Owner owner, Redaction redaction, Map<UUID, Uploaded> uploaded,
            Completion item) {
        List<NewArtifact> stored = new ArrayList<>();
        try {
            stored.addAll(ArtifactUploads.named(uploaded, item));
            stored.addAll(inline(workspace, owner.runId(), redaction, item));
        } catch (ArtifactRefusedException e) {
            throw new Refused(e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        JsonNode given = Absent.asNull(item.output());
        JsonNode output = redaction.json(given);
        return new Result(output.toString(), ReportedValues.tokens(item), item.cost(),
                ReportedValues.model(redaction, item), stored,
                ProposalTexts
                        .of(item.proposals().stream().map(ReportedValues::proposed)
                                .map(each -> ProposalTexts.redacted(each, redaction)).toList()),
                VerdictText.of(output), turns.of(workspace, owner.taskId(), output),
                input(workspace, owner, item.stepId(), item.leaseEpoch()), RepeatedReports.hash(given), null);
    }

    /** All of them, or none. */
    private List<NewArtifact> inline(UUID workspace, UUID run, Redaction redaction, Completion item)
            throws IOException {
        ArtifactOwner owner = new ArtifactOwner(workspace, run, item.stepId(), 1, item.leaseEpoch());
        List<NewArtifact> stored = new ArrayList<>();
        try {
            for (Completion.InlineArtifact artifact : item.artifacts()) {
                StoredArtifact put = artifacts.take(owner, redaction.text(artifact.name()),
                        redaction.text(artifact.contentType()),
                        redaction.stream(
                                new ByteArrayInputStream(Base64.getDecoder().decode(artifact.contentBase64()))));
                stored.add(new NewArtifact(put.name(), put.contentType(), put.sizeBytes(), put.sha256(),
                        put.storageKey()));
            }
            return stored;
        } catch (IOException e) {
            for (NewArtifact each : stored) {
                artifacts.discard(each.storageKey());
            }
            throw e;
        }
    }
}
