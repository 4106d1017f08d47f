package io.keelson.server.annex.effect;

import io.keelson.server.annex.effect.EffectAdapter.Effect;
import io.keelson.server.annex.effect.EffectAdapter.Made;
import io.keelson.server.annex.effect.EffectCommand.Source;
import io.keelson.server.annex.effect.EffectCommand.State;
import io.keelson.server.annex.effect.EffectCommands.Filter;
import io.keelson.server.annex.effect.EffectCommands.Settled;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.db.TxFunction;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The only caller of adapters. It stores a command under a lease, calls the adapter, and records the outcome under the
 * lease's epoch. After a crash at any point the command is found and resumed. A command that may have arrived is
 * repeated, under the same provider key, only if the adapter allows it.
 */
final class CommandHandler {

    private static final Logger LOG = LoggerFactory.getLogger(CommandHandler.class);
    static final int MAX_ATTEMPTS = 3;
    private static final Duration FIRST_DELAY = Duration.ofSeconds(1);
    /** How often a waiting caller polls for a command's end, because another node may execute it. */
    private static final Duration POLL_INTERVAL = Duration.ofMillis(250);

    private final Database database;
    private final EffectCommands table;
    private final Adapters adapters;
    private final Supplier<UUID> ids;
    private final Duration lease;
    private final UnrecordedOutcomes unrecorded = new UnrecordedOutcomes(this::note);
    /** Opens when this node has recorded the next outcome. */
    private final AtomicReference<CountDownLatch> noted = new AtomicReference<>(new CountDownLatch(1));

    /**
     * @param ids ordered by time
     * @param lease longer than a call of an adapter takes
     */
    public CommandHandler(Database database, DbClock clock, Adapters adapters, Supplier<UUID> ids, Duration lease) {
        this.database = database;
        this.table = new EffectCommands(clock);
        this.adapters = adapters;
        this.ids = ids;
        this.lease = lease;
    }

    /**
     * Executes a command once per key and waits for the attempt. A resource that was ended stays ended: later commands
     * on it have no effect, under any key.
     */
    public CommandResult run(CommandRequest request) throws InterruptedException {
        CommandResult accepted = holding(c -> accept(c, request),
                result -> result instanceof CommandResult.Sent(EffectCommand command) ? List.of(command) : List.of());
        return accepted instanceof CommandResult.Sent(EffectCommand command)
                ? new CommandResult.Sent(command.source() == Source.STEP ? driveApart(command) : drive(command))
                : accepted;
    }

    /**
     * Claims commands in a transaction. If its COMMIT gets no answer, the commands may be held by this node, which sends nothing:
     * they are given back, so that none ends as a command of unknown outcome.
     */
    private <T> T holding(TxFunction<T> work, Function<T, List<EffectCommand>> claimed) {
        List<EffectCommand> held = new ArrayList<>();
        try {
            return database.inTransaction(c -> {
                T result = work.apply(c);
                held.addAll(claimed.apply(result));
                return result;
            });
        } catch (SqlFailure e) {
            if (e.unavailable()) {
                held.forEach(each -> unrecorded.add(each, settled(each, new CommandOutcome.NotDone(
                        "DATABASE_UNAVAILABLE", "the database did not confirm the command: " + e.getMessage(), null))));
            }
            throw e;
        }
    }

    /**
     * Runs on a thread of its own. Stopping the step, after a lost lease or a timeout, does not abort a sent command,
     * whose outcome would be unknown.
     */
    private EffectCommand driveApart(EffectCommand command) throws InterruptedException {
        FutureTask<EffectCommand> driving = new FutureTask<>(() -> drive(command));
        Thread.ofVirtual().name("command-" + command.id()).start(driving);
        try {
            return driving.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException failure ? failure : new IllegalStateException(e.getCause());
        }
    }

    /**
     * Like {@link #run}, but waits for the end of a command that another caller holds, perhaps on a crashed node, and
     * for its next attempt. Returns a command in progress if the wait would exceed a lease.
     */
    public CommandResult runToItsEnd(CommandRequest request) throws InterruptedException {
        long end = System.nanoTime() + lease.toNanos();
        while (true) {
            CountDownLatch news = noted.get();
            CommandResult result = run(request);
            Duration rest = rest(result);
            if (rest == null || System.nanoTime() + rest.toNanos() - end > 0) {
                return result;
            }
            boolean notified = news.await(rest.toNanos(), TimeUnit.NANOSECONDS);
            LOG.trace("checking a command again, notified: {}", notified);
        }
    }

    /** Like {@link #run}, but waits for the end of a command that another caller has sent under the key. */
    public CommandResult runOrAwait(CommandRequest request, Duration maxWait) throws InterruptedException {
        long end = System.nanoTime() + maxWait.toNanos();
        while (true) {
            CountDownLatch news = noted.get();
            CommandResult result = run(request);
            long left = end - System.nanoTime();
            if (!(result instanceof CommandResult.InFlight) || left <= 0) {
                return result;
            }
            boolean notified = news.await(Math.min(left, POLL_INTERVAL.toNanos()), TimeUnit.NANOSECONDS);
            LOG.trace("checking a command again, notified: {}", notified);
        }
    }

    /** Delay before the next check; null when it has ended. */
    private static @Nullable Duration rest(CommandResult result) {
        return switch (result) {
            case CommandResult.Sent(EffectCommand command) -> switch (command.state()) {
                case EXECUTING -> POLL_INTERVAL;
                case AWAITING_TOOL -> Duration.between(command.updatedAt(), command.wakeAt());
                case COMPLETED, FAILED, UNKNOWN -> null;
            };
            case CommandResult.InFlight _ -> POLL_INTERVAL;
            case CommandResult.Replayed _,CommandResult.Conflict _,CommandResult.NoTarget _ -> null;
        };
    }

    private CommandResult accept(Connection c, CommandRequest request) throws SQLException {
        ResourceKind kind = CommandTypes.target(request.type());
        EffectAdapter adapter = adapters.making(request.type());
        UUID target = request.target();
        if (kind != null && target != null) {
            EffectCommand made = made(c, request.workspaceId(), kind, target).orElse(null);
            if (made == null) {
                return new CommandResult.NoTarget(kind, target);
            }
            Optional<EffectCommand> done = table.doneTo(c, request.workspaceId(), request.type(), target);
            if (done.isPresent() && byKey(c, request).isEmpty()) {
                return new CommandResult.Replayed(done.get());
            }
            adapter = adapters.named(made.adapter()).orElse(adapter);
        }
        String hash = Requests.hash(request.payload(), target);
        EffectCommand fresh = fresh(request, hash, adapter);
        Optional<EffectCommand> written = table.insert(c, fresh, lease);
        if (written.isPresent()) {
            audit(c, request.asker().origin(), "command_accepted", written.get());
            return new CommandResult.Sent(written.get());
        }
        return known(c, request, hash);
    }

    private CommandResult known(Connection c, CommandRequest request, String hash) throws SQLException {
        EffectCommand known = byKey(c, request).orElseThrow();
        if (!known.requestHash().equals(hash)) {
            return new CommandResult.Conflict(known);
        }
        return switch (known.state()) {
            case COMPLETED, FAILED, UNKNOWN -> new CommandResult.Replayed(known);
            case EXECUTING, AWAITING_TOOL -> {
                Optional<EffectCommand> taken = request.source() == Source.STEP
                        ? table.take(c, known.id(), lease, MAX_ATTEMPTS)
                        : Optional.empty();
                yield taken.<CommandResult>map(CommandResult.Sent::new)
                        .orElseGet(() -> new CommandResult.InFlight(known));
            }
        };
    }

    private Optional<EffectCommand> byKey(Connection c, CommandRequest request) throws SQLException {
        String key = request.key();
        return key == null ? Optional.empty()
                : table.byKey(c, request.workspaceId(), request.type(), request.source(), key);
    }

    private EffectCommand fresh(CommandRequest request, String hash, EffectAdapter adapter) {
        UUID id = ids.get();
        CommandRequest.Asker asker = request.asker();
        return new EffectCommand(id, request.workspaceId(), request.type(), request.source(), request.key(), hash,
                request.payload(), request.target(), adapter.name(), adapter.idempotent(request.type()),
                "keelson-" + id, null, State.EXECUTING, false, 1, 1, null, null, null, null, asker.name(),
                asker.kind(), asker.runId(), asker.stepId(), Instant.EPOCH, Instant.EPOCH, null);
    }

    /** Calls the adapter for a command that the caller holds; returns the command's new state. */
    EffectCommand drive(EffectCommand command) throws InterruptedException {
        CommandOutcome outcome = attempt(command);
        Settled settled = settled(command, outcome);
        try {
            return note(command, settled);
        } catch (SqlFailure e) {
            if (e.unavailable()) {
                unrecorded.add(command, settled);
            }
            throw e;
        }
    }

    /** Outcomes that the database did not record. */
    UnrecordedOutcomes unrecorded() {
        return unrecorded;
    }

    private EffectCommand note(EffectCommand command, Settled settled) {
        EffectCommand now = record(command, settled);
        noted.getAndSet(new CountDownLatch(1)).countDown();
        return now;
    }

    private EffectCommand record(EffectCommand command, Settled settled) {
        return database.inTransaction(c -> {
            Optional<EffectCommand> after = table.settle(c, command, settled);
            if (after.isEmpty()) {
                Optional<EffectCommand> stored = table.find(c, command.workspaceId(), command.id());
                EffectCommand found = stored.orElse(command);
                if (stored.isPresent()
                        && (found.leaseEpoch() != command.leaseEpoch() || found.state() != settled.state())) {
                    LOG.warn("command {} was taken over before its outcome was recorded: {}", command.id(),
                            settled.state().wire());
                }
                return found;
            }
            if (after.get().completedAt() != null) {
                audit(c, AuditOrigin.SERVER, "command_" + after.get().state().wire(), after.get());
            }
            return after.get();
        });
    }

    private CommandOutcome attempt(EffectCommand command) throws InterruptedException {
        EffectAdapter adapter = adapters.named(command.adapter()).orElse(null);
        if (adapter == null) {
            return new CommandOutcome.NotDone("ADAPTER_NOT_CONFIGURED",
                    "the settings have no adapter " + command.adapter(),
                    null);
        }
        String reference;
        try {
            reference = reference(command);
        } catch (SqlFailure e) {
            return new CommandOutcome.NotDone("DATABASE_UNAVAILABLE",
                    "the database did not answer before the call: " + e.getMessage(), null);
        }
        try {
            return adapter.execute(new Effect(command.workspaceId(), command.id(), command.type(),
                    command.providerKey(), command.payload(), reference, command.uncertain()));
        } catch (RuntimeException e) {
            LOG.error("adapter {} failed at command {}", adapter.name(), command.id(), e);
            return new CommandOutcome.Unknown("ADAPTER_CRASHED", "the adapter failed; the server's log says more");
        }
    }

    private @Nullable String reference(EffectCommand command) {
        ResourceKind kind = CommandTypes.target(command.type());
        UUID target = command.targetId();
        return kind == null || target == null ? null
                : database.withConnection(c -> made(c, command.workspaceId(), kind, target)
                        .map(EffectCommand::providerReference).orElse(null));
    }

    private Optional<EffectCommand> made(Connection c, UUID workspace, ResourceKind kind, UUID id)
            throws SQLException {
        return table.find(c, workspace, id).filter(
                found -> found.type().equals(kind.madeBy()) && found.state() == State.COMPLETED);
    }

    private static Settled settled(EffectCommand command, CommandOutcome outcome) {
        return switch (outcome) {
            case CommandOutcome.Done done -> new Settled(State.COMPLETED, done.reference(), done.response(), null, null,
                    false, null);
            case CommandOutcome.Refused refused ->
                new Settled(State.FAILED, null, null, refused.code(), refused.message(), false, null);
            case CommandOutcome.NotDone not -> open(command, not.code(), not.message(), command.uncertain(),
                    !command.uncertain() || command.idempotent(), not.retryAfter());
            case CommandOutcome.Unknown unknown -> open(command, unknown.code(), unknown.message(), true,
                    command.idempotent(), null);
        };
    }

    /** Retries as long as that is harmless; finally the outcome is unknown, or the command was never done. */
    private static Settled open(EffectCommand command, String code, String message, boolean uncertain,
            boolean harmless, @Nullable Duration retryAfter) {
        if (harmless && command.attempts() < MAX_ATTEMPTS) {
            Duration delay = FIRST_DELAY.multipliedBy(1L << (command.attempts() - 1));
            return new Settled(State.AWAITING_TOOL, null, null, code, message, uncertain,
                    retryAfter != null && retryAfter.compareTo(delay) > 0 ? retryAfter : delay);
        }
        return new Settled(uncertain ? State.UNKNOWN : State.FAILED, null, null, code, message, uncertain, null);
    }

    /** Claims due commands; ends commands that may not be repeated as unknown, after own outcomes are recorded. */
    List<EffectCommand> takeDue(int limit) {
        unrecorded.record();
        return holding(c -> {
            for (EffectCommand lost : table.giveUp(c, MAX_ATTEMPTS)) {
                audit(c, AuditOrigin.SERVER, "command_unknown", lost);
            }
            return table.takeDue(c, lease, MAX_ATTEMPTS, limit);
        }, taken -> taken);
    }

    private static void audit(Connection c, AuditOrigin origin, String action, EffectCommand command)
            throws SQLException {
        ObjectNode detail = Json.object().put("type", command.type())
                .put("actor", command.actor()).put("attempts", command.attempts())
                .put("provider_reference", command.providerReference()).put("error_code", command.errorCode());
        if (command.runId() != null) {
            detail.put("run_id", command.runId().toString());
        }
        AuditLog.write(c, origin, action, command.workspaceId(), command.id().toString(), detail);
    }

    /** One command of a workspace. */
    public Optional<EffectCommand> find(UUID workspace, UUID id) {
        return database.withConnection(c -> table.find(c, workspace, id));
    }

    /**
     * Newest first.
     *
     * @param type null for all, as for {@code state} and {@code run}
     * @param before the id after which to continue; null for the newest
     */
    public Page<EffectCommand> list(UUID workspace, @Nullable String type, @Nullable String state,
            @Nullable UUID run, @Nullable UUID before, int limit) {
        return database.withConnection(c -> table.list(c, workspace, new Filter(type, state, run, before), limit));
    }

    /** The command that made a deployment or an order; empty if the workspace has no such resource. */
    public Optional<EffectCommand> maker(UUID workspace, ResourceKind kind, UUID id) {
        return database.withConnection(c -> made(c, workspace, kind, id));
    }

    /**
     * The adapters' state of resources, by id; unknown ones are missing. Not a command: reads go straight to the
     * adapter.
     *
     * @throws ProviderUnavailableException when an adapter cannot be reached
     */
    public Map<UUID, ObjectNode> read(UUID workspace, ResourceKind kind, List<EffectCommand> makers)
            throws ProviderUnavailableException, InterruptedException {
        Map<String, List<Made>> byAdapter = new HashMap<>();
        for (EffectCommand maker : makers) {
            byAdapter.computeIfAbsent(maker.adapter(), name -> new ArrayList<>())
                    .add(new Made(maker.id(), String.valueOf(maker.providerReference())));
        }
        Map<UUID, ObjectNode> found = new HashMap<>();
        for (Map.Entry<String, List<Made>> each : byAdapter.entrySet()) {
            EffectAdapter adapter = adapters.named(each.getKey()).orElse(null);
            if (adapter == null) {
                throw new ProviderUnavailableException("the settings have no adapter " + each.getKey());
            }
            found.putAll(adapter.read(workspace, kind, each.getValue()));
        }
        return found;
    }

    /** The types that users have registered, by name. */
    public List<String> registered() {
        return adapters.registered();
    }
}
