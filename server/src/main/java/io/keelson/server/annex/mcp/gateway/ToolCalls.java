package io.keelson.server.annex.mcp.gateway;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.TurnAnswer;
import io.keelson.server.annex.mcp.wire.Mcp;
import io.keelson.server.api.http.gateway.EqualRequests;
import io.keelson.server.api.http.gateway.EqualRequests.Occurrence;
import io.keelson.server.api.http.support.MountedRequest;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.execute.RecordedAnswers;
import io.keelson.server.engine.execute.TurnText;
import io.keelson.server.engine.store.queue.GatewayTokens.Lease;
import io.keelson.server.engine.store.read.ProgramCallRecords;
import io.keelson.server.engine.store.read.ProgramCallRecords.End;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Makes calls of programs: each becomes a step of the program's task, and its end is the result. A program that is executed again gets
 * the results of equal calls, in their order.
 */
final class ToolCalls {
    private static final Actor ACTOR = Actor.agent("gateway");
    private static final int IN_FLIGHT = 64;
    private static final int MAX_LEASES = 100_000;
    private static final Duration LEASE_MEMORY = Duration.ofHours(6);
    /** How soon a request notices that its client is gone. */
    private static final Duration SLICE = Duration.ofMillis(500);
    /** The pause between two attempts to park. */
    private static final Duration AGAIN = Duration.ofSeconds(2);
    /** The time after which the request of a parked program that still runs is refused. */
    private static final Duration LONGEST_PARKED = Duration.ofMinutes(10);
    private static final int UNAUTHORIZED = 401;
    private static final int CONFLICT = 409;
    private static final int TOO_MANY = 429;
    private static final int UNAVAILABLE = 503;

    private final ProgramCallRecords records;
    private final Commands commands;
    private final CallEnds ends;
    private final RecordedAnswers recorded;
    private final ToolGatewayObserver observer;
    private final Duration parkAfter;
    private final Cache<LeaseKey, OfLease> leases =
            Caffeine.newBuilder().maximumSize(MAX_LEASES).expireAfterAccess(LEASE_MEMORY).build();

    private record LeaseKey(UUID step, int epoch) {}

    /** The calls of a lease at this server. */
    private static final class OfLease {
        /** Whether the step of each call exists. */
        private final EqualRequests<AtomicBoolean> requests = new EqualRequests<>();
        private final AtomicInteger inFlight = new AtomicInteger();
    }

    /** @param parkAfter time after which the program of a call that waits for a person is ended */
    ToolCalls(ProgramCallRecords records, Commands commands, CallEnds ends, RecordedAnswers recorded,
            ToolGatewayObserver observer, Duration parkAfter) {
        this.parkAfter = parkAfter;
        this.records = records;
        this.commands = commands;
        this.ends = ends;
        this.recorded = recorded;
        this.observer = observer;
    }

    /**
     * The result of a call, once it has ended.
     *
     * @param replayed whether an earlier request has made the call
     */
    record Answer(ObjectNode result, boolean replayed) {}

    /**
     * Makes a call, or joins an equal one.
     *
     * @return null if the client is gone before the end
     */
    @Nullable Answer call(Lease lease, ProgramTools.Offered tool, ObjectNode arguments, MountedRequest request)
            throws CallRefusedException, InterruptedException {
        OfLease known = leases.get(new LeaseKey(lease.stepId(), lease.epoch()), _ -> new OfLease());
        if (known.inFlight.incrementAndGet() > IN_FLIGHT) {
            known.inFlight.decrementAndGet();
            throw new CallRefusedException(TOO_MANY, Mcp.INTERNAL_ERROR, "too_many_requests",
                    "the step has " + IN_FLIGHT + " calls in flight");
        }
        try {
            return call(lease, known.requests, TurnText.call(tool.tool(), arguments, tool.terms(), null), request);
        } finally {
            known.inFlight.decrementAndGet();
        }
    }

    private @Nullable Answer call(Lease lease, EqualRequests<AtomicBoolean> requests, TurnAnswer.Call made,
            MountedRequest request) throws CallRefusedException, InterruptedException {
        String content = made.tool() + ":" + made.digest();
        BooleanSupplier gone = request::clientGone;
        Occurrence<AtomicBoolean> occurrence = requests.enter(content, false, gone,
                unused -> records.find(lease.taskId(), lease.stepId(), content).stream().filter(unused).findFirst()
                        .map(id -> new Occurrence<>(id, new AtomicBoolean(true)))
                        .orElseGet(() -> new Occurrence<>(UUID.randomUUID(), new AtomicBoolean())));
        boolean makes = !occurrence.facts().get();
        boolean delivered = false;
        CompletableFuture<End> end = ends.of(occurrence.id());
        try {
            if (makes) {
                ObjectNode refusal = make(lease, occurrence.id(), made);
                if (refusal != null) {
                    requests.forget(content, occurrence);
                    observer.onRefusal();
                    return new Answer(refusal, false);
                }
                occurrence.facts().set(true);
                observer.onCall();
            } else {
                observer.onReplay();
            }
            End reached = await(lease, end, request);
            if (reached == null) {
                return null;
            }
            if (reached.state().equals("cancelled")) {
                throw endedFailure();
            }
            delivered = !gone.getAsBoolean();
            return new Answer(CallResults.of(reached), !makes);
        } catch (CallRefusedException e) {
            requests.forget(content, occurrence);
            throw e;
        } finally {
            end.cancel(false);
            requests.leave(occurrence, gone, delivered);
        }
    }

    /** Adds the step of the call; the refusal if the program may not make it. */
    private @Nullable ObjectNode make(Lease lease, UUID id, TurnAnswer.Call made)
            throws CallRefusedException, InterruptedException {
        TurnAnswer turn = recorded.of(lease.workspaceId(), lease.taskId(), new TurnAnswer.Calls(List.of(made)));
        TurnAnswer.Call call = turn instanceof TurnAnswer.Calls(List<TurnAnswer.Call> calls) ? calls.getFirst() : made;
        Reply reply = commands.commit(new Command.CallTool(lease.runId(), lease.stepId(), lease.epoch(),
                id, call, ACTOR), null);
        if (!(reply instanceof Reply.Rejected(String code, String message, String _, List<String> _))) {
            return null;
        }
        if (code.equals("STALE_LEASE")) {
            throw endedFailure();
        }
        return CallResults.error(code, message);
    }

    /**
     * The end of the call. If it waits for a person, the step is parked: the request gets no answer, and its socket closes with the
     * program.
     *
     * @return null if the client is gone before the end
     */
    private @Nullable End await(Lease lease, CompletableFuture<End> end, MountedRequest request)
            throws CallRefusedException, InterruptedException {
        long park = System.nanoTime() + parkAfter.toNanos();
        long last = park + LONGEST_PARKED.toNanos();
        boolean parked = false;
        CompletableFuture<End> awaited = end;
        while (true) {
            try {
                long left = parked ? SLICE.toNanos() : Math.clamp(park - System.nanoTime(), 1, SLICE.toNanos());
                End reached = awaited.get(left, TimeUnit.NANOSECONDS);
                if (!parked) {
                    return reached;
                }
                awaited = new CompletableFuture<>();
            } catch (TimeoutException e) {
                if (request.clientGone()) {
                    return null;
                }
                boolean stopping = request.isStopping();
                if (parked && (stopping || System.nanoTime() > last) || stopping && park(lease)) {
                    throw new CallRefusedException(CONFLICT, Mcp.INVALID_REQUEST, "parked",
                            "the step waits: end the program, it is started again with the answer");
                }
                if (stopping) {
                    throw new CallRefusedException(UNAVAILABLE, Mcp.INTERNAL_ERROR, "not_ready",
                            "the server is stopping: repeat the call");
                }
                if (!parked && System.nanoTime() >= park) {
                    parked = park(lease);
                    park = System.nanoTime() + AGAIN.toNanos();
                }
            } catch (ExecutionException e) {
                throw new IllegalStateException(e.getCause());
            }
        }
    }

    /** Ends the lease if a call of its program waits for a person. */
    private boolean park(Lease lease) throws CallRefusedException, InterruptedException {
        Reply reply =
                commands.commit(new Command.Park(lease.runId(), lease.stepId(), lease.epoch(), ACTOR), null);
        if (reply instanceof Reply.Rejected(String code, String _, String state, List<String> _)
                && code.equals("STALE_LEASE")) {
            if (!StepState.WAITING.wire().equals(state)) {
                throw endedFailure();
            }
            return true;
        }
        boolean parks = reply instanceof Reply.Done(boolean changed) && changed;
        if (parks) {
            observer.onPark();
        }
        return parks;
    }

    private static CallRefusedException endedFailure() {
        return new CallRefusedException(UNAUTHORIZED, Mcp.INVALID_REQUEST, "step_ended",
                "the step has ended or has lost its lease");
    }
}
