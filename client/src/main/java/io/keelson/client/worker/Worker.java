package io.keelson.client.worker;

import io.keelson.api.worker.WorkItem;
import io.keelson.client.Backoff;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Serves tools of your own to a Keelson server, from any process that can reach it. Claims steps for its tools, keeps
 * their leases, runs their handlers and brings the results back until each is answered, over restarts of the server.
 *
 * <pre>{@code
 * Worker.builder(Keelson.connect()).tool("resize", step -> resize(step)).build().serve();
 * }</pre>
 *
 * <p>A step is executed at least once and its result counts exactly once: a result under a lost lease is refused by
 * the server. None of the worker's threads keeps the JVM alive.
 */
public final class Worker implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Worker.class.getName());
    private static final long BETWEEN_WARNINGS_NANOS = TimeUnit.SECONDS.toNanos(30);
    /** How often a worker claims work without a message, while it has a connection to the broker. */
    private static final Duration WITHOUT_MESSAGE = Duration.ofSeconds(10);
    private static final int BAD_REQUEST = 400;
    private static final int UNPROCESSABLE = 422;
    private static final long LAST_CLAIM_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long LAST_REPORTS_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long HURRIED_REPORTS_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final String id;
    private final Map<String, StepHandler> handlers;
    private final Duration poll;
    private final Duration grace;
    private final Duration longestChain;
    private final Duration slowChain;
    private final URI server;
    private final Dispatch dispatch;
    private final Slots slots;
    private final Heartbeats heartbeats;
    private final ResultReporter reports;
    private final ThreadFactory threads = Threads.handlers();
    private final Set<Chain> chains = ConcurrentHashMap.newKeySet();
    private final Durations durations;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final CountDownLatch stopping = new CountDownLatch(1);
    private final CountDownLatch stopped = new CountDownLatch(1);
    /** Null without a broker. */
    private final @Nullable ReadyWork ready;
    private final Thread claimThread = Threads.daemon("keelson-claim", this::claimLoop);
    private final Thread heartbeatThread;
    private final List<Thread> reportThreads;
    private volatile @Nullable KeelsonException problem;
    /** Whether the server has answered a claim. Used by the thread of claims, as is the next one. */
    private boolean serves;
    private long silentUntil = System.nanoTime();
    /** When work is claimed next without a message. */
    private long pollAt = System.nanoTime();

    private Worker(Builder settings) {
        this.id = settings.id;
        this.handlers = Map.copyOf(settings.handlers);
        this.poll = settings.poll;
        this.grace = settings.grace;
        this.longestChain = settings.chain;
        this.slowChain = settings.lease.dividedBy(3);
        this.durations = new Durations(settings.gathering);
        this.server = settings.client.url();
        this.dispatch = new Dispatch(settings.client.api(), id, settings.version, handlers.keySet(),
                settings.specs.values().stream().map(ToolSpec::announced).toList(), settings.lease,
                !settings.chain.isZero());
        this.slots = new Slots(settings.slots);
        this.ready = settings.broker == null ? null
                : new ReadyWork(settings.broker, id,
                        () -> UUID.fromString(settings.client.whoAmI().workspace().id()), handlers.keySet(),
                        settings.slots);
        this.heartbeats = new Heartbeats(dispatch, slots, settings.lease, this::leadSlowChains);
        this.reports =
                new ResultReporter(dispatch, heartbeats, slots, () -> !stopping(), durations::awaitsQuick,
                        settings.gathering, this::accept);
        this.heartbeatThread = Threads.daemon("keelson-heartbeat", heartbeats::run);
        this.reportThreads = IntStream.range(0, ResultReporter.SENDERS)
                .mapToObj(i -> Threads.daemon("keelson-report", reports::run)).toList();
    }

    /** A worker that uses this client. */
    public static Builder builder(Keelson client) {
        return new Builder(client);
    }

    /** The id that the worker shows to the server. */
    public String id() {
        return id;
    }

    /** Begins to claim. The server need not be up yet. A worker starts once. */
    public Worker start() {
        if (ready != null) {
            ready.start();
        }
        claimThread.start();
        heartbeatThread.start();
        reportThreads.forEach(Thread::start);
        return this;
    }

    /**
     * Makes the tools known to the server, so that missions may have them before the first claim. A worker need not call it.
     *
     * @throws KeelsonException if the server refuses a tool or the key, or is away
     */
    public Worker register() {
        dispatch.register();
        return this;
    }

    /** Why the server did not answer the latest claim; null after an answer. Then the worker claims again by itself. */
    public @Nullable KeelsonException problem() {
        return problem;
    }

    /** Starts, and serves until SIGTERM or Ctrl-C, on which it calls {@link #close()}. */
    public void serve() throws InterruptedException {
        Runtime.getRuntime().addShutdownHook(new Thread(this::close, "keelson-stop"));
        start();
        awaitStop();
    }

    /** Waits until the worker has been stopped by {@link #close()}. */
    public void awaitStop() throws InterruptedException {
        stopped.await();
    }

    /**
     * Stops gracefully: claims no more, lets running handlers finish within the grace period, hands the others back to
     * the server (which costs their steps no attempt) and returns when everything is reported, or cannot be within
     * five seconds. An interrupt shortens the waiting.
     */
    @Override
    public void close() {
        boolean interrupted = closed.compareAndSet(false, true) ? stop() : !waited(stopped::await);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** True when an interrupt came in between. */
    private boolean stop() {
        stopping.countDown();
        slots.close();
        if (ready != null) {
            ready.stop();
        }
        long begun = System.nanoTime();
        boolean interrupted = !waited(() -> slots.awaitIdle(grace.toNanos()));
        chains.forEach(Chain::abandon);
        slots.taken().stream().filter(Execution::abandon)
                .forEach(execution -> reports.add(execution, ExecutionResult.release()));
        // Steps of the last claim are handed back, too.
        long claimed = begun + poll.toNanos() + LAST_CLAIM_NANOS - System.nanoTime();
        interrupted |=
                interrupted || !waited(() -> claimThread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(claimed))));
        claimThread.interrupt();
        long timeout = interrupted ? HURRIED_REPORTS_NANOS : LAST_REPORTS_NANOS;
        interrupted |= !waited(() -> slots.awaitIdle(timeout));
        heartbeatThread.interrupt();
        reportThreads.forEach(Thread::interrupt);
        if (ready != null) {
            ready.close();
        }
        stopped.countDown();
        return interrupted;
    }

    private interface Waiting {
        void run() throws InterruptedException;
    }

    private static boolean waited(Waiting waiting) {
        try {
            waiting.run();
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    private void claimLoop() {
        Backoff backoff = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(5));
        try {
            for (int free = slots.awaitFree(); free > 0; free = slots.awaitFree()) {
                Duration delay = claim(free, backoff);
                if (stopping.await(delay.toNanos(), TimeUnit.NANOSECONDS)) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** One claim; answers how long to wait before the next. Even an answer that makes no sense must not end the loop. */
    private Duration claim(int free, Backoff backoff) throws InterruptedException {
        try {
            if (ready != null && ready.connected()) {
                claimReady(ready, free);
            } else {
                dispatch.claim(free, poll).forEach(this::accept);
            }
            if (!serves) {
                serves = true;
                LOG.log(Level.INFO, "worker {0} serves {1} at {2}", id,
                        String.join(", ", new TreeSet<>(handlers.keySet())), server);
            } else if (problem != null) {
                LOG.log(Level.INFO, "worker {0} claims steps", id);
            }
            if (problem != null) {
                silentUntil = System.nanoTime();
            }
            problem = null;
            backoff.reset();
            return Duration.ZERO;
        } catch (RuntimeException e) {
            KeelsonException refusal = e instanceof KeelsonException known ? known : null;
            problem = refusal;
            Duration delay = backoff.next(refusal == null ? null : refusal.retryAfter());
            if (!stopping() && System.nanoTime() - silentUntil >= 0) {
                silentUntil = System.nanoTime() + BETWEEN_WARNINGS_NANOS;
                LOG.log(Level.WARNING, "worker {0} cannot claim steps at {1}, and tries again: {2}", id, server,
                        refusal == null ? e : LogText.reason(refusal));
            }
            return delay;
        }
    }

    /** Claims the work of messages, and any work when there was no message for some time. */
    private void claimReady(ReadyWork broker, int free) throws InterruptedException {
        List<ReadyWork.Message> messages =
                broker.take(free, Duration.ofNanos(Math.max(0, pollAt - System.nanoTime())));
        if (stopping()) {
            return;
        }
        if (messages.isEmpty()) {
            dispatch.claim(free, Duration.ZERO).forEach(this::accept);
            pollAt = System.nanoTime() + WITHOUT_MESSAGE.toNanos();
            return;
        }
        List<WorkItem> items;
        try {
            items = dispatch.claim(messages.stream().map(ReadyWork.Message::item).toList());
        } catch (KeelsonException e) {
            if (e.status() == BAD_REQUEST || e.status() == UNPROCESSABLE) {
                ReadyWork.refuse(messages);
            } else {
                broker.giveBack(messages);
            }
            throw e;
        }
        List<ReadyWork.Message> matched = ReadyWork.claimed(messages, items);
        for (int i = 0; i < items.size(); i++) {
            accept(items.get(i), i < matched.size() ? matched.get(i)::acknowledge : null);
        }
    }

    private boolean stopping() {
        return stopping.getCount() == 0;
    }

    private void accept(WorkItem item) {
        accept(item, null);
    }

    /** @param onEnd called when the server has answered the step's report, or the lease is lost; null if absent */
    private void accept(WorkItem item, @Nullable Runnable onEnd) {
        Execution execution = new Execution(item, server, heartbeats::nudge, dispatch::upload);
        if (onEnd != null) {
            execution.onEnd(onEnd);
        }
        if (!slots.take(execution)) {
            execution.ended();
            return;
        }
        if (stopping() && execution.abandon()) {
            reports.add(execution, ExecutionResult.release());
        } else {
            boolean quick = durations.beginQuick(execution);
            threads.newThread(() -> execute(execution, quick)).start();
        }
    }

    private void execute(Execution first, boolean quick) {
        Chain chain = new Chain(first, reports, slots);
        chains.add(chain);
        long begun = System.nanoTime();
        boolean continues = execute(first, chain);
        for (WorkItem next : first.following()) {
            if (!continues || !follows(next, begun)) {
                break;
            }
            Execution step = new Execution(next, server, () -> {
                if (chain.lead()) {
                    heartbeats.nudge();
                }
            }, (item, name, type, file) -> {
                chain.lead();
                return dispatch.upload(item, name, type, file);
            });
            continues = chain.begin(step) && execute(step, chain);
        }
        if (quick) {
            durations.endQuick();
        }
        chain.end();
        chains.remove(chain);
    }

    /** Reports results that wait for a step that takes long. */
    private void leadSlowChains() {
        chains.stream().filter(chain -> chain.waitsFor(slowChain))
                .forEach(chain -> threads.newThread(chain::lead).start());
    }

    /** Whether the step begins before the results of those before it are reported. */
    private boolean follows(WorkItem next, long begun) {
        long longest = longestChain.toNanos();
        return !stopping() && !Thread.currentThread().isInterrupted() && System.nanoTime() - begun < longest
                && durations.isBelow(next.tool(), longest);
    }

    /** Returns false if the chain ends with the step. */
    private boolean execute(Execution execution, Chain chain) {
        boolean continues = false;
        if (execution.begin(Thread.currentThread())) {
            long begun = System.nanoTime();
            ExecutionResult outcome = outcome(execution);
            durations.record(execution.tool(), System.nanoTime() - begun);
            continues = execution.finish() && chain.add(execution, outcome);
        }
        if (execution.lost()) {
            slots.free(execution);
        }
        return continues;
    }

    @SuppressWarnings("IllegalCatch") // any exception of a handler fails its step, never the worker
    private ExecutionResult outcome(Execution execution) {
        StepHandler handler = handlers.get(execution.tool());
        if (handler == null) {
            return ExecutionResult.failure(new StepFailure("TOOL_NOT_SERVED", ErrorClass.INFRASTRUCTURE,
                    "worker " + id + " does not serve " + execution.tool()), execution);
        }
        try {
            Object result = handler.handle(execution);
            return result instanceof Continue turn
                    ? ExecutionResult.output(ExecutionResult.Kind.CONTINUE, json(turn.output()), execution)
                    : ExecutionResult.output(ExecutionResult.Kind.COMPLETE, json(result), execution);
        } catch (StepFailure failure) {
            return ExecutionResult.failure(failure, execution);
        } catch (StepDeferral deferral) {
            return ExecutionResult.deferral(deferral);
        } catch (Throwable e) {
            boolean handedBack =
                    execution.stop() == Stop.BUDGET_EXCEEDED || stopping() && e instanceof InterruptedException;
            if (!execution.cancelled() && !handedBack) {
                LOG.log(Level.WARNING, "handler of " + execution.tool() + " failed", e);
            }
            return handedBack ? ExecutionResult.release()
                    : ExecutionResult.failure(
                            new StepFailure("HANDLER_ERROR", ErrorClass.INFRASTRUCTURE, LogText.causes(e)),
                            execution);
        }
    }

    private static JsonNode json(@Nullable Object value) throws StepFailure {
        try {
            return Json.of(value);
        } catch (IllegalArgumentException e) {
            throw new StepFailure("OUTPUT_INVALID", ErrorClass.PERMANENT, "output is " + e.getMessage());
        }
    }

    /** Settings of a worker. */
    public static final class Builder {

        private final Keelson client;
        private final Map<String, StepHandler> handlers = new LinkedHashMap<>();
        private final Map<String, ToolSpec> specs = new LinkedHashMap<>();
        private String id = "worker-" + UUID.randomUUID();
        private @Nullable String version;
        private int slots = 8;
        private Duration lease = Duration.ofSeconds(30);
        private Duration poll = Duration.ofSeconds(2);
        private Duration grace = Duration.ofSeconds(20);
        private Duration chain = Chain.LONGEST;
        private Duration gathering = ResultReporter.GATHERING;
        private @Nullable URI broker;

        private Builder(Keelson client) {
            this.client = client;
        }

        /** Unique among the server's workers; a random one when not given. */
        public Builder id(String value) {
            this.id = value;
            return this;
        }

        /** The version of your code, shown beside the worker; none when not given. */
        public Builder version(String value) {
            this.version = value;
            return this;
        }

        /** Serves a tool by this name. */
        public Builder tool(String name, StepHandler handler) {
            if (handlers.putIfAbsent(name, handler) != null) {
                throw new IllegalArgumentException(
                        "tool " + name + " has a handler already: a worker has one for each tool");
            }
            return this;
        }

        /** Serves a tool and announces its description. */
        public Builder tool(ToolSpec spec, StepHandler handler) {
            tool(spec.name(), handler);
            specs.put(spec.name(), spec);
            return this;
        }

        /** Serves agents: takes the turns of tasks that have no steps of their own. */
        public Builder agent(AgentHandler handler) {
            return tool(Turn.TOOL, step -> handler.take(new Turn(step)).body());
        }

        /** How many steps at a time; 8 when not given. */
        public Builder slots(int value) {
            this.slots = value;
            return this;
        }

        /** The lease without heartbeats; 30 s when not given. Steps older than a third of the lease have heartbeats. */
        public Builder lease(Duration value) {
            this.lease = value;
            return this;
        }

        /** How long a claim waits at the server for a step; 2 s when not given. An idle worker needs as long to stop. */
        public Builder poll(Duration value) {
            this.poll = value;
            return this;
        }

        /** How long running handlers may take when the worker stops; 20 s when not given. */
        public Builder grace(Duration value) {
            this.grace = value;
            return this;
        }

        /**
         * For how long steps of tools with {@link Effects#READ} are executed before their results are reported; 20 ms when not given.
         * Zero reports each step before the next one begins.
         */
        public Builder chain(Duration longest) {
            this.chain = longest;
            return this;
        }

        /** How long results wait for other results of quick steps at work. */
        Builder gathering(Duration value) {
            this.gathering = value;
            return this;
        }

        /**
         * The RabbitMQ broker that tells the worker of its work, {@code amqp://user:password@host:port/vhost}, or {@code amqps:} for TLS: the one
         * of the server's {@code KEELSON_RABBITMQ_URL}. The worker polls while the broker is away. Needs the library
         * {@code com.rabbitmq:amqp-client}.
         */
        public Builder rabbitmq(URI value) {
            this.broker = value;
            return this;
        }

        /** Creates the worker. It claims no work before its start. */
        public Worker build() {
            if (handlers.isEmpty()) {
                throw new IllegalStateException("a worker serves at least one tool");
            }
            if (slots < 1) {
                throw new IllegalStateException("a worker has at least one slot");
            }
            return new Worker(this);
        }
    }
}
