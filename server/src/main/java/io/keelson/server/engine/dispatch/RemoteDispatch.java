package io.keelson.server.engine.dispatch;

import com.github.f4b6a3.uuid.UuidCreator;
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
import io.keelson.core.run.StepAssignment;
import io.keelson.core.run.TurnAnswer;
import io.keelson.server.base.artifact.ArtifactOwner;
import io.keelson.server.base.artifact.ArtifactRefusedException;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.expr.ExpressionException;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.commit.Store;
import io.keelson.server.engine.execute.ArtifactIntake;
import io.keelson.server.engine.execute.DelayedActions;
import io.keelson.server.engine.execute.ProposalTexts;
import io.keelson.server.engine.execute.RecordedInput;
import io.keelson.server.engine.execute.Scopes;
import io.keelson.server.engine.execute.Tracing;
import io.keelson.server.engine.execute.VerdictText;
import io.keelson.server.engine.store.RunStore.Candidate;
import io.keelson.server.engine.store.RunStore.Search;
import io.keelson.server.engine.store.WorkspaceRoundRobin;
import io.keelson.server.engine.store.queue.WorkerRegistry;
import io.keelson.server.engine.store.read.StepWorkReader;
import io.keelson.server.engine.store.read.StepWorkReader.Owner;
import io.keelson.server.engine.store.retention.Uploads.Uploaded;
import io.keelson.server.tenant.secret.Redaction;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Serves remote workers: claims, heartbeats and reports become the commands that this node's own executors use. Each call takes a
 * batch and answers every item; an item of another workspace gets the answer of an unknown one.
 */
public final class RemoteDispatch implements AutoCloseable {
    private static final int SPARE = 2;
    /** How soon a claim that waits notices that its worker is gone. */
    private static final Duration SLICE = Duration.ofMillis(500);
    /** How often a worker that waits is recorded as present. */
    private static final Duration SIGN_OF_LIFE = Duration.ofSeconds(20);
    static final Reply NOT_FOUND = new Reply.Rejected("STEP_NOT_FOUND", "there is no such step", null, List.of());

    /** Reads the turn in the output of a task's step; null if absent. */
    @FunctionalInterface
    public interface Turns {
        @Nullable TurnAnswer of(UUID workspace, UUID task, JsonNode output);
    }

    private final Database database;
    private final WorkerRegistry workers;
    private final DrainingWorkers draining;
    private final WorkerHeartbeats heartbeats;
    private final StepWorkReader work;
    private final AssignedSteps assigned = new AssignedSteps();
    private final GatewayAccess gateway;
    private final AssignmentFactory assignmentFactory;
    private final RepeatedReports repeated;
    private final Scopes scopes;
    private final ArtifactIntake artifacts;
    private final ArtifactUploads uploads;
    private final ClaimSeries series;
    private final Claims claims;
    private final Function<Command, CompletableFuture<Reply>> commands;
    private final Duration lease;
    private final Turns turns;

    public RemoteDispatch(Database database, Store store, Scopes scopes, ArtifactIntake artifacts,
            WorkAvailability available, DelayedActions delayed, Claims claims,
            Function<Command, CompletableFuture<Reply>> commands, Duration lease, Turns turns, Tracing tracing) {
        this.turns = turns;
        this.database = database;
        this.workers = store.workers();
        this.draining = new DrainingWorkers(database, workers, System::nanoTime);
        this.work = store.work();
        this.gateway = new GatewayAccess(database, workers, System::nanoTime);
        this.assignmentFactory =
                new AssignmentFactory(database, store.work(), scopes, commands, tracing, assigned, gateway);
        this.repeated = new RepeatedReports(database, store.work());
        this.scopes = scopes;
        this.heartbeats = new WorkerHeartbeats(database, store, scopes, commands);
        this.artifacts = artifacts;
        this.uploads = new ArtifactUploads(database, store, scopes, artifacts, UuidCreator::getTimeOrderedEpoch);
        this.series = new ClaimSeries(available, delayed::after, this::release);
        this.claims = claims;
        this.commands = commands;
        this.lease = lease;
    }

    /** Returns as soon as there is work; empty after the wait. */
    public List<WorkItem> claim(WorkerClaim claim) throws InterruptedException {
        long end = System.nanoTime() + claim.maxWait().toNanos();
        boolean drained = draining(claim);
        long sign = System.nanoTime();
        Set<String> tools = Set.copyOf(claim.tools());
        ClaimSeries.Begun begun = series.begin(claim.workspaceId(), claim.workerId(), tools);
        WorkAvailability.Watch watch = begun.watch();
        boolean again = false;
        try {
            while (!claim.gone().getAsBoolean() && !claim.over().getAsBoolean()) {
                if (System.nanoTime() - sign > SIGN_OF_LIFE.toNanos()) {
                    drained = draining(claim);
                    sign = System.nanoTime();
                }
                List<StepAssignment> given = watch.withdraw();
                boolean news = given.isEmpty() && watch.news();
                if (news || !given.isEmpty()) {
                    drained = draining.of(claim.workspaceId(), claim.workerId());
                }
                List<WorkItem> items = given(claim, given, drained ? 0 : claim.max());
                if (items.isEmpty() && news && !drained) {
                    items = tryClaim(claim, watch);
                }
                long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
                if (!items.isEmpty() || left <= 0) {
                    again = claim.again() && !drained && !claim.gone().getAsBoolean();
                    if (again) {
                        series.pause(claim.workspaceId(), tools, begun,
                                offer(claim, claim.max() - items.size(), () -> false));
                    }
                    return items;
                }
                watch.await(Math.min(left, SLICE.toMillis()), offer(claim, drained ? 0 : claim.max(), claim.gone()));
            }
        } finally {
            if (!again) {
                release(claim.workerId(), watch.end());
            }
        }
        return List.of();
    }

    private void release(String worker, List<StepAssignment> steps) {
        for (StepAssignment step : steps) {
            var _ = commands.apply(new Command.Release(step.runId(), step.stepId(), step.leaseEpoch(), null,
                    Actor.agent(worker)));
        }
    }

    private WorkAvailability.Offer offer(WorkerClaim claim, int slots, BooleanSupplier gone) {
        return new WorkAvailability.Offer(claim.workerId(), lease(claim), slots, gone);
    }

    private Duration lease(WorkerClaim claim) {
        return claim.lease() == null ? lease : claim.lease();
    }

    /**
     * Assignments of steps that the worker received without a search; releases steps beyond the worker's free slots.
     */
    private List<WorkItem> given(WorkerClaim claim, List<StepAssignment> given, int slots) {
        int fitting = Math.min(slots, given.size());
        release(claim.workerId(), given.subList(fitting, given.size()));
        return items(claim, given.subList(0, fitting).stream().<Reply>map(Reply.Claimed::new).toList());
    }

    private List<WorkItem> items(WorkerClaim claim, Collection<Reply> claimed) {
        return List.copyOf(assignmentFactory.items(claim.workspaceId(), claim.workerId(), claimed).values());
    }

    private boolean draining(WorkerClaim claim) {
        boolean drained = draining.claiming(claim.workspaceId(), claim.workerId(),
                new DrainingWorkers.Offer(Set.copyOf(claim.tools()), claim.version(), claim.specs()), claim.max());
        gateway.announced(claim.workspaceId(), claim.specs());
        return drained;
    }

    /** None for a worker that was drained during the search. */
    private List<WorkItem> tryClaim(WorkerClaim claim, WorkAvailability.Watch watch) {
        List<Reply> claimed = new ArrayList<>();
        int before;
        boolean more;
        do {
            before = claimed.size();
            more = claimSome(claim, claimed);
        } while (more && claimed.size() > before && claimed.size() < claim.max());
        if (more && claimed.size() >= claim.max()) {
            watch.leavesWork();
        }
        if (!claimed.isEmpty() && draining.of(claim.workspaceId(), claim.workerId())) {
            release(claim.workerId(), claimed.stream().filter(Reply.Claimed.class::isInstance)
                    .map(reply -> ((Reply.Claimed) reply).assignment()).toList());
            return List.of();
        }
        return items(claim, claimed);
    }

    /** Returns whether there may be more than it has claimed. */
    private boolean claimSome(WorkerClaim claim, List<Reply> claimed) {
        int limit = (claim.max() - claimed.size()) * SPARE;
        List<Candidate> found =
                claims.find(new Search(claim.workspaceId(), claim.tools(), limit, new WorkspaceRoundRobin()));
        int from = 0;
        while (from < found.size() && claimed.size() < claim.max()) {
            int to = Math.min(found.size(), from + claim.max() - claimed.size());
            claims.claim(found.subList(from, to), candidate -> command(claim, candidate)).stream()
                    .filter(reply -> reply instanceof Reply.Claimed).forEach(claimed::add);
            from = to;
        }
        return found.size() == limit || from < found.size();
    }

    private Command command(WorkerClaim claim, Candidate candidate) {
        return new Command.Claim(candidate.runId(), candidate.taskId(), candidate.lane(), claim.workerId(),
                lease(claim), Actor.agent(claim.workerId()));
    }

    /**
     * Makes tools known before a worker claims their steps, so that missions may name them.
     *
     * @param specs the announced tools, as JSON text
     */
    public void register(UUID workspaceId, String workerId, List<String> tools, String specs) {
        database.runInTransaction(c -> workers.register(c, workspaceId, workerId, tools, specs));
        gateway.announced(workspaceId, specs);
    }

    /**
     * The announced tools of the workspace's workers, by name: objects with {@code name} and, if the worker gives them,
     * {@code description}, {@code input_schema} and {@code effects}.
     */
    public Map<String, JsonNode> announced(UUID workspaceId) {
        return database.withConnection(c -> workers.announced(c, workspaceId));
    }

    /** Charges the reported use, then extends the leases. */
    public List<ReportAnswer> heartbeat(UUID workspaceId, String workerId, List<Heartbeat> beats) {
        return heartbeats.take(workspaceId, workerId, beats);
    }

    /** Stores progress and log lines of reports while their leases last. */
    private void note(UUID workspaceId, String workerId, List<? extends Report.WithNotes> items) {
        List<Heartbeat> beats = items.stream().filter(ReportedValues::hasNotes).map(ReportedValues::notes).toList();
        if (!beats.isEmpty()) {
            var _ = heartbeats.take(workspaceId, workerId, beats);
        }
    }

    /**
     * Reports results.
     *
     * @param next null to request no next step. A repeated report gets the same next step again, while the worker holds
     *             it
     */
    public List<ReportAnswer> complete(UUID workspaceId, String workerId, List<Completion> items,
            Completion.@Nullable Next next) {
        NextStepRequest request =
                next == null || draining.of(workspaceId, workerId) ? null
                        : new NextStepRequest(workerId, Set.copyOf(next.tools()),
                                Objects.requireNonNullElse(ReportedValues.millis(next.leaseMs()), lease));
        note(workspaceId, workerId, items);
        Map<UUID, Uploaded> uploaded = uploaded(workspaceId, items);
        List<Reply> replies = send(workspaceId, items,
                (owner, redaction, item) -> new Command.Complete(owner.runId(), item.stepId(), item.leaseEpoch(),
                        result(workspaceId, owner, redaction, uploaded, item), request, Actor.agent(workerId)));
        Map<UUID, WorkItem> given = assignmentFactory.items(workspaceId, workerId, replies);
        List<ReportAnswer> answers = new ArrayList<>();
        for (int i = 0; i < replies.size(); i++) {
            UUID step = AssignmentFactory.stepOf(replies.get(i));
            answers.add(answer(items.get(i).stepId(), replies.get(i), step == null ? null : given.get(step)));
        }
        return answers;
    }

    /** Like {@link #complete}, but each task gets another turn a second later. */
    public List<ReportAnswer> another(UUID workspaceId, String workerId, List<Completion> items) {
        note(workspaceId, workerId, items);
        Map<UUID, Uploaded> uploaded = uploaded(workspaceId, items);
        return report(workspaceId, items,
                (owner, redaction, item) -> new Command.Continue(owner.runId(), item.stepId(), item.leaseEpoch(),
                        result(workspaceId, owner, redaction, uploaded, item), Actor.agent(workerId)));
    }

    /**
     * Stores an artifact of a running step while it arrives; it becomes the step's when the step's result names it.
     *
     * @throws ArtifactRefusedException with the reason
     */
    public Upload.Reply upload(UUID workspaceId, String workerId, Upload upload, InputStream content)
            throws IOException {
        return uploads.take(workspaceId, workerId, upload, content);
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

    /** Drains a worker, which may finish its leased work. False for an unknown worker. */
    public boolean drain(UUID workspaceId, String workerId) {
        boolean known = database.inTransaction(c -> workers.drain(c, workspaceId, workerId));
        draining.changed(workspaceId, workerId);
        series.end(workspaceId, workerId);
        return known;
    }

    /** A report that cannot be accepted as it is. */
    private static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final String code;

        private Refused(ArtifactRefusedException cause) {
            super(cause.getMessage(), cause);
            this.code = cause.code();
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

    private <T> CompletableFuture<Reply> send(Owner owner, Redaction redaction, T item, CommandOf<T> command) {
        try {
            return commands.apply(command.of(owner, redaction, item))
                    .exceptionallyCompose(failure -> failure instanceof Commands.RunNotFound
                            ? CompletableFuture.completedFuture(NOT_FOUND)
                            : CompletableFuture.failedFuture(failure));
        } catch (Refused e) {
            return CompletableFuture.completedFuture(
                    new Reply.Rejected(e.code, String.valueOf(e.getMessage()), null, List.of()));
        }
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

    /** Releases steps of workers that have not got them. */
    @Override
    public void close() {
        series.close();
    }
}
