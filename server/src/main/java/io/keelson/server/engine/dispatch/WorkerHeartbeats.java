package io.keelson.server.engine.dispatch;

import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.commit.Store;
import io.keelson.server.engine.dispatch.RemoteWork.Answer;
import io.keelson.server.engine.dispatch.RemoteWork.Beat;
import io.keelson.server.engine.dispatch.RemoteWork.Notes;
import io.keelson.server.engine.dispatch.RemoteWork.Stop;
import io.keelson.server.engine.dispatch.RemoteWork.Used;
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

    List<Answer> take(UUID workspaceId, String workerId, List<Beat> beats) {
        List<UUID> ids = beats.stream().map(Beat::stepId).toList();
        Map<UUID, Integer> newest = beats.stream()
                .collect(Collectors.toMap(Beat::stepId, Beat::leaseEpoch, Math::max));
        Map<UUID, Owner> known = database.withConnection(c -> work.ownersOf(c, workspaceId, ids));
        Map<UUID, Redaction> redactions = new HashMap<>();
        known.forEach((step, owner) -> redactions.put(step,
                owner.input() == null ? Redaction.NONE : scopes.redaction(workspaceId, owner.input())));
        List<Beat> redacted = beats.stream()
                .map(beat -> redacted(beat, redactions.getOrDefault(beat.stepId(), Redaction.NONE))).toList();
        Map<Beat, CompletableFuture<Reply>> charged = charge(workerId, redacted, known);
        charged.values().forEach(CompletableFuture::join);
        Map<UUID, Instant> accepted = accept(workspaceId, workerId, redacted, newest);
        Map<UUID, Stop> lost = lost(beats, accepted, newest);
        return redacted.stream().map(beat -> {
            Instant expires = accepted.get(beat.stepId());
            if (!known.containsKey(beat.stepId())) {
                return RemoteDispatch.answer(beat.stepId(), RemoteDispatch.NOT_FOUND, null);
            }
            if (expires == null || newest.getOrDefault(beat.stepId(), 0) != beat.leaseEpoch()) {
                return new Answer(beat.stepId(), "stop", null, "STALE_LEASE", "stop working on it", null, null,
                        lost.getOrDefault(beat.stepId(), Stop.LOST));
            }
            CompletableFuture<Reply> reply = charged.get(beat);
            return reply != null && reply.join() instanceof Reply.Metered(boolean exhausted) && exhausted
                    ? new Answer(beat.stepId(), "stop", expires, "BUDGET_EXCEEDED",
                            "report the step now: the limits leave nothing for more", null, null,
                            Stop.BUDGET_EXCEEDED)
                    : new Answer(beat.stepId(), "ok", expires, null, null, null);
        }).toList();
    }

    private Map<Beat, CompletableFuture<Reply>> charge(String workerId, List<Beat> beats, Map<UUID, Owner> known) {
        Map<Beat, CompletableFuture<Reply>> charged = new HashMap<>();
        for (Beat beat : beats) {
            Owner owner = known.get(beat.stepId());
            Used used = beat.used();
            if (owner != null && used != null) {
                charged.put(beat, commands
                        .apply(new Command.Meter(owner.runId(), beat.stepId(), beat.leaseEpoch(),
                                Result.spent(used.tokens(), used.cost(), used.model()), Actor.agent(workerId)))
                        .exceptionallyCompose(failure -> failure instanceof Commands.RunNotFound
                                ? CompletableFuture.completedFuture(RemoteDispatch.NOT_FOUND)
                                : CompletableFuture.failedFuture(failure)));
            }
        }
        return charged;
    }

    private Map<UUID, Instant> accept(UUID workspaceId, String workerId, List<Beat> beats,
            Map<UUID, Integer> newest) {
        List<LeaseHeartbeats.Beat> signs = beats.stream().map(beat -> new LeaseHeartbeats.Beat(beat.stepId(),
                beat.leaseEpoch(), beat.notes().progress(), beat.notes().message(),
                beat.details() == null ? null : beat.details().toString())).toList();
        return database.inTransaction(c -> {
            workers.seen(c, workspaceId, workerId);
            var extended = heartbeats.beat(c, workspaceId, workerId, signs);
            heartbeats.log(c, beats.stream()
                    .filter(b -> !b.notes().logs().isEmpty() && extended.containsKey(b.stepId())
                            && newest.getOrDefault(b.stepId(), 0) == b.leaseEpoch())
                    .map(b -> new LeaseHeartbeats.Log(b.stepId(), b.leaseEpoch(), 0, b.notes().logs())).toList());
            return extended;
        });
    }

    /** Why the newest leases that were not accepted have ended. */
    private Map<UUID, Stop> lost(List<Beat> beats, Map<UUID, Instant> accepted, Map<UUID, Integer> newest) {
        List<UUID> refused = beats.stream().map(Beat::stepId).filter(step -> !accepted.containsKey(step)).toList();
        Map<UUID, Stop> reasons = new HashMap<>();
        if (!refused.isEmpty()) {
            database.withConnection(c -> work.endsOf(c, refused)).forEach((step, end) -> {
                int epoch = newest.getOrDefault(step, 0);
                reasons.put(step, end.timedOut(epoch) ? Stop.TIMED_OUT
                        : end.cancelled(epoch) ? Stop.CANCELLED : Stop.LOST);
            });
        }
        return reasons;
    }

    private static Beat redacted(Beat beat, Redaction redaction) {
        Notes notes = beat.notes();
        Used used = beat.used();
        return new Beat(beat.stepId(), beat.leaseEpoch(),
                new Notes(notes.progress(),
                        notes.message() == null ? null : RemoteDispatch.cut(redaction.text(notes.message())),
                        notes.logs().stream().map(line -> RemoteDispatch.cut(redaction.text(line))).toList()),
                beat.details() == null ? null : redaction.json(beat.details()), used == null ? null
                        : new Used(used.tokens(), used.cost(), RemoteDispatch.model(redaction, used.model())));
    }
}
