package io.keelson.server.engine.dispatch;

import io.keelson.api.worker.Heartbeat;
import io.keelson.api.worker.Progress;
import io.keelson.api.worker.ReportAnswer;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.commit.Store;
import io.keelson.server.engine.execute.Scopes;
import io.keelson.server.engine.store.queue.LeaseHeartbeats;
import io.keelson.server.engine.store.queue.WorkerRegistry;
import io.keelson.server.engine.store.read.StepWorkReader;
import io.keelson.server.engine.store.read.StepWorkReader.Owner;
import io.keelson.server.tenant.secret.Redaction;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Heartbeats of remote workers. The use that they report is charged before the leases are extended: a heartbeat that is repeated
 * because its answer was lost is charged once, as each one has the sum of its lease.
 */
final class WorkerHeartbeats {
    private final Database database;
    private final WorkerRegistry workers;
    private final LeaseHeartbeats heartbeats;
    private final StepWorkReader work;
    private final Scopes scopes;
    private final Function<Command, CompletableFuture<Reply>> commands;

    WorkerHeartbeats(Database database, Store store, Scopes scopes,
            Function<Command, CompletableFuture<Reply>> commands) {
        this.database = database;
        this.workers = store.workers();
        this.heartbeats = store.heartbeats();
        this.work = store.work();
        this.scopes = scopes;
        this.commands = commands;
    }

    List<ReportAnswer> take(UUID workspaceId, String workerId, List<Heartbeat> beats) {
        List<UUID> ids = beats.stream().map(Heartbeat::stepId).toList();
        Map<UUID, Integer> newest = beats.stream()
                .collect(Collectors.toMap(Heartbeat::stepId, Heartbeat::leaseEpoch, Math::max));
        Map<UUID, Owner> known = database.withConnection(c -> work.ownersOf(c, workspaceId, ids));
        Map<UUID, Redaction> redactions = new HashMap<>();
        known.forEach((step, owner) -> redactions.put(step,
                owner.input() == null ? Redaction.NONE : scopes.redaction(workspaceId, owner.input())));
        List<Heartbeat> redacted = beats.stream()
                .map(beat -> ReportedValues.redacted(beat, redactions.getOrDefault(beat.stepId(), Redaction.NONE)))
                .toList();
        Map<Heartbeat, CompletableFuture<Reply>> charged = charge(workerId, redacted, known);
        charged.values().forEach(CompletableFuture::join);
        Map<UUID, Instant> accepted = accept(workspaceId, workerId, redacted, newest);
        Map<UUID, String> lost = lost(beats, accepted, newest);
        return redacted.stream().map(beat -> {
            Instant expires = accepted.get(beat.stepId());
            if (!known.containsKey(beat.stepId())) {
                return WorkerReports.answer(beat.stepId(), WorkerReports.NOT_FOUND, null);
            }
            if (expires == null || newest.getOrDefault(beat.stepId(), 0) != beat.leaseEpoch()) {
                return ReportAnswer.stop(beat.stepId(), null, lost.getOrDefault(beat.stepId(), ReportAnswer.LOST),
                        "STALE_LEASE", "stop working on it");
            }
            CompletableFuture<Reply> reply = charged.get(beat);
            return reply != null && reply.join() instanceof Reply.Metered(boolean exhausted) && exhausted
                    ? ReportAnswer.stop(beat.stepId(), expires, "budget_exceeded", "BUDGET_EXCEEDED",
                            "report the step now: the limits leave nothing for more")
                    : ReportAnswer.ok(beat.stepId(), expires, null);
        }).toList();
    }

    private Map<Heartbeat, CompletableFuture<Reply>> charge(String workerId, List<Heartbeat> beats,
            Map<UUID, Owner> known) {
        Map<Heartbeat, CompletableFuture<Reply>> charged = new HashMap<>();
        for (Heartbeat beat : beats) {
            Owner owner = known.get(beat.stepId());
            if (owner != null && ReportedValues.hasUse(beat)) {
                charged.put(beat, commands
                        .apply(new Command.Meter(owner.runId(), beat.stepId(), beat.leaseEpoch(),
                                Result.spent(ReportedValues.tokens(beat), beat.cost(), beat.model()),
                                Actor.agent(workerId)))
                        .exceptionallyCompose(failure -> failure instanceof Commands.RunNotFound
                                ? CompletableFuture.completedFuture(WorkerReports.NOT_FOUND)
                                : CompletableFuture.failedFuture(failure)));
            }
        }
        return charged;
    }

    private Map<UUID, Instant> accept(UUID workspaceId, String workerId, List<Heartbeat> beats,
            Map<UUID, Integer> newest) {
        List<LeaseHeartbeats.Beat> signs = beats.stream().map(WorkerHeartbeats::sign).toList();
        return database.inTransaction(c -> {
            workers.seen(c, workspaceId, workerId);
            var extended = heartbeats.beat(c, workspaceId, workerId, signs);
            heartbeats.log(c, beats.stream()
                    .filter(b -> !b.logs().isEmpty() && extended.containsKey(b.stepId())
                            && newest.getOrDefault(b.stepId(), 0) == b.leaseEpoch())
                    .map(b -> new LeaseHeartbeats.Log(b.stepId(), b.leaseEpoch(), 0, b.logs())).toList());
            return extended;
        });
    }

    private static LeaseHeartbeats.Beat sign(Heartbeat beat) {
        Progress progress = beat.progress();
        return new LeaseHeartbeats.Beat(beat.stepId(), beat.leaseEpoch(), progress == null ? null : progress.fraction(),
                progress == null ? null : progress.message(),
                beat.details() == null ? null : beat.details().toString());
    }

    /** Why the newest leases that were not accepted have ended. */
    private Map<UUID, String> lost(List<Heartbeat> beats, Map<UUID, Instant> accepted, Map<UUID, Integer> newest) {
        List<UUID> refused = beats.stream().map(Heartbeat::stepId).filter(step -> !accepted.containsKey(step)).toList();
        Map<UUID, String> reasons = new HashMap<>();
        if (!refused.isEmpty()) {
            database.withConnection(c -> work.endsOf(c, refused)).forEach((step, end) -> {
                int epoch = newest.getOrDefault(step, 0);
                reasons.put(step, end.timedOut(epoch) ? "timed_out"
                        : end.cancelled(epoch) ? "cancelled" : ReportAnswer.LOST);
            });
        }
        return reasons;
    }

}
