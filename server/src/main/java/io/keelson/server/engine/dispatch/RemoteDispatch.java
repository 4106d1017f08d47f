package io.keelson.server.engine.dispatch;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.api.worker.Completion;
import io.keelson.api.worker.FurtherClaim;
import io.keelson.api.worker.Heartbeat;
import io.keelson.api.worker.ReportAnswer;
import io.keelson.api.worker.WorkItem;
import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.NextStepRequest;
import io.keelson.core.run.Reply;
import io.keelson.core.run.StepAssignment;
import io.keelson.core.run.TurnAnswer;
import io.keelson.core.run.VersionRule;
import io.keelson.server.base.artifact.ArtifactRefusedException;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.commit.Store;
import io.keelson.server.engine.execute.ArtifactIntake;
import io.keelson.server.engine.execute.DelayedActions;
import io.keelson.server.engine.execute.Scopes;
import io.keelson.server.engine.execute.Tracing;
import io.keelson.server.engine.store.RunStore.Candidate;
import io.keelson.server.engine.store.RunStore.Search;
import io.keelson.server.engine.store.WorkspaceRoundRobin;
import io.keelson.server.engine.store.queue.WorkerRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
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
 * Serves remote workers: claims and heartbeats become the commands that this node's own executors use, as {@link WorkerReports} does
 * with reports.
 */
public final class RemoteDispatch implements AutoCloseable {
    private static final int SPARE = 2;
    /** How soon a claim that waits notices that its worker is gone. */
    private static final Duration SLICE = Duration.ofMillis(500);
    /** How often a worker that waits is recorded as present. */
    private static final Duration SIGN_OF_LIFE = Duration.ofSeconds(20);

    /** Reads the turn in the output of a task's step; null if absent. */
    @FunctionalInterface
    public interface Turns {
        @Nullable TurnAnswer of(UUID workspace, UUID task, JsonNode output);
    }

    private final Database database;
    private final WorkerRegistry workers;
    private final DrainingWorkers draining;
    private final WorkerHeartbeats heartbeats;
    private final GatewayAccess gateway;
    private final AssignmentFactory assignmentFactory;
    private final ArtifactUploads uploads;
    private final WorkerReports reports;
    private final ClaimSeries series;
    /** Claims with reports: a worker's claims of both kinds wait beside each other. */
    private final ClaimSeries withReports;
    private final Claims claims;
    private final Function<Command, CompletableFuture<Reply>> commands;
    private final Duration lease;
    private final boolean chains;

    /** @param chains whether claims may have several steps of a task */
    public RemoteDispatch(Database database, Store store, Scopes scopes, ArtifactIntake artifacts,
            WorkAvailability available, DelayedActions delayed, Claims claims,
            Function<Command, CompletableFuture<Reply>> commands, Duration lease, boolean chains, Turns turns,
            Tracing tracing) {
        this.database = database;
        this.workers = store.workers();
        this.draining = new DrainingWorkers(database, workers, System::nanoTime);
        this.gateway = new GatewayAccess(database, workers, System::nanoTime);
        AssignedSteps assigned = new AssignedSteps();
        this.assignmentFactory =
                new AssignmentFactory(database, store.work(), scopes, commands, tracing, assigned, gateway);
        this.heartbeats = new WorkerHeartbeats(database, store, scopes, commands);
        this.uploads = new ArtifactUploads(database, store, scopes, artifacts, UuidCreator::getTimeOrderedEpoch);
        this.reports = new WorkerReports(database, store.work(), assigned, assignmentFactory, scopes, heartbeats,
                artifacts, uploads, commands, turns);
        this.series = new ClaimSeries(available, delayed::after, this::release);
        this.withReports = new ClaimSeries(available, delayed::after, this::release);
        this.claims = claims;
        this.commands = commands;
        this.lease = lease;
        this.chains = chains;
    }

    /** Returns as soon as there is work; empty after the wait. */
    public List<WorkItem> claim(WorkerClaim claim) throws InterruptedException {
        long end = System.nanoTime() + claim.maxWait().toNanos();
        boolean drained = draining(claim);
        long sign = System.nanoTime();
        Set<String> tools = Set.copyOf(claim.tools());
        ClaimSeries.Begun begun = series.begin(claim.workspaceId(), claim.workerId(), tools,
                claim.ruledVersion());
        WorkAvailability.Watch watch = begun.watch();
        boolean again = false;
        try {
            while (!claim.gone().getAsBoolean() && !claim.over().getAsBoolean()) {
                if (System.nanoTime() - sign > SIGN_OF_LIFE.toNanos()) {
                    drained = draining(claim);
                    sign = System.nanoTime();
                }
                List<StepAssignment> given =
                        begun.follows() ? watch.collect(offer(claim, drained ? 0 : claim.max(), claim.gone()))
                                : watch.withdraw();
                int sought = given.isEmpty() ? watch.seek() : 0;
                if (sought > 0 || !given.isEmpty()) {
                    drained = draining.of(claim.workspaceId(), claim.workerId());
                }
                List<WorkItem> items = given(claim, given, drained ? 0 : claim.max());
                if (items.isEmpty() && sought > 0 && !drained) {
                    items = tryClaim(claim.atMost(Math.min(sought, claim.max())), watch);
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
                release(claim.workerId(), series.end(claim.workspaceId(), claim.workerId(), begun));
            }
        }
        return List.of();
    }

    /**
     * The given items that are ready now. Never waits.
     *
     * @param claim its wait has no effect
     */
    public List<WorkItem> claimItems(WorkerClaim claim, List<Lane> items) {
        if (draining(claim)) {
            return List.of();
        }
        List<Candidate> found = claims.find(claim.workspaceId(), claim.tools(), claim.ruledVersion(), items);
        return items(claim, claims
                .claim(found.subList(0, Math.min(claim.max(), found.size())), candidate -> command(claim, candidate))
                .stream().filter(Reply.Claimed.class::isInstance).toList());
    }

    /**
     * Work for the slots that reports have freed. Never waits: the reports of the same request have been committed.
     *
     * @param claim for all slots of the request; its wait has no effect
     * @param answers to the reports of the request. The steps that they contain, and steps whose reports were rejected, use
     *            slots of the claim
     */
    public List<WorkItem> further(WorkerClaim claim, List<ReportAnswer> answers) {
        long used = answers.stream().filter(answer -> answer.next() != null || answer.keepsSlot()).count();
        WorkerClaim rest = claim.atMost((int) Math.max(0, claim.max() - used))
                .ofVersion(draining.version(claim.workspaceId(), claim.workerId()));
        if (rest.max() == 0 || draining.of(claim.workspaceId(), claim.workerId())) {
            return List.of();
        }
        Set<String> tools = Set.copyOf(claim.tools());
        WorkAvailability.Watch live = series.live(claim.workspaceId(), claim.workerId(), tools, rest.ruledVersion());
        if (live != null) {
            return further(rest, live);
        }
        ClaimSeries.Begun begun = withReports.begin(claim.workspaceId(), claim.workerId(), tools,
                rest.ruledVersion());
        List<WorkItem> items = begun.watch().news() ? tryClaim(rest, begun.watch()) : List.of();
        withReports.pause(claim.workspaceId(), tools, begun, offer(rest, 0, () -> false));
        return items;
    }

    /** Work for a worker in a series of claims, whose offer gets the slots without work. */
    private List<WorkItem> further(WorkerClaim claim, WorkAvailability.Watch live) {
        List<StepAssignment> given = live.collect(claim.max());
        List<WorkItem> items = new ArrayList<>(given(claim, given, claim.max()));
        int sought = live.seek(claim.max() - given.size());
        if (sought > 0) {
            items.addAll(tryClaim(claim.atMost(sought), live));
        }
        live.free(claim.max() - items.size());
        return items;
    }

    private void release(String worker, List<StepAssignment> steps) {
        for (StepAssignment step : steps) {
            var _ = commands.apply(new Command.Release(step.runId(), step.stepId(), step.leaseEpoch(), null,
                    Actor.agent(worker)));
        }
    }

    private WorkAvailability.Offer offer(WorkerClaim claim, int slots, BooleanSupplier gone) {
        return new WorkAvailability.Offer(claim.workerId(), lease(claim), slots, allowChains(claim.chained()),
                claim.ruledVersion(), gone);
    }

    private Set<String> allowChains(Set<String> tools) {
        return chains ? tools : Set.of();
    }

    private static String ruled(@Nullable String version) {
        return Objects.requireNonNullElse(version, VersionRule.UNVERSIONED);
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
                claims.find(new Search(claim.workspaceId(), claim.tools(), limit, new WorkspaceRoundRobin(),
                        claim.ruledVersion()));
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
                lease(claim), allowChains(claim.chained()), claim.ruledVersion(), Actor.agent(claim.workerId()));
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

    /** Reports of failures, turns and released leases. */
    public WorkerReports reports() {
        return reports;
    }

    /** Reports results; each of them may request the next step of its task. */
    public List<ReportAnswer> complete(UUID workspaceId, String workerId, List<Completion> items,
            Completion.@Nullable Next next) {
        return results(workspaceId, workerId, items, next == null ? null
                : new FurtherClaim(next.tools(), items.size(), next.leaseMs(), List.of()));
    }

    /**
     * Reports results.
     *
     * @param claim null to request no next step. As many results as it has slots request the next step of their task. A repeated
     *            report gets the same next step again, while the worker holds it
     */
    public List<ReportAnswer> results(UUID workspaceId, String workerId, List<Completion> items,
            @Nullable FurtherClaim claim) {
        NextStepRequest request =
                claim == null || draining.of(workspaceId, workerId) ? null
                        : new NextStepRequest(workerId, Set.copyOf(claim.tools()),
                                Objects.requireNonNullElse(ReportedValues.millis(claim.leaseMs()), lease),
                                allowChains(Set.copyOf(claim.chains())),
                                ruled(draining.version(workspaceId, workerId)));
        return reports.complete(workspaceId, workerId, items, request, claim == null ? 0 : claim.max());
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

    /** Drains a worker, which may finish its leased work. False for an unknown worker. */
    public boolean drain(UUID workspaceId, String workerId) {
        boolean known = database.inTransaction(c -> workers.drain(c, workspaceId, workerId));
        draining.changed(workspaceId, workerId);
        series.end(workspaceId, workerId);
        withReports.end(workspaceId, workerId);
        return known;
    }

    /** Releases steps of workers that have not got them. */
    @Override
    public void close() {
        series.close();
        withReports.close();
    }
}
