package io.keelson.core.decide;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.decide.ChangeSet.Evaluate;
import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.ChangeSet.QueueItem;
import io.keelson.core.decide.ChangeSet.Timer;
import io.keelson.core.decide.ChangeSet.TimerKey;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Bank;
import io.keelson.core.money.Funds;
import io.keelson.core.money.Prices;
import io.keelson.core.money.Tokens;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.EngineOutage;
import io.keelson.core.run.Event;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import io.keelson.core.run.Verdict;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;

/** One run, its queue and its timers in memory: commits every command at once and checks invariants after each. */
final class World {
    static final Actor WHO = Actor.human("ann");
    /** A result that is also a verdict, where one is asked for. */
    static final Result GOOD = new Result("1", Tokens.NONE, null, null, List.of(),
            new Verdict(Verdict.Outcome.PASSED, null, null));
    static final Duration LEASE = Duration.ofSeconds(30);
    static final UUID WORKSPACE = new UUID(9, 9);

    final Map<Lane, QueueItem> queue = new LinkedHashMap<>();
    final Map<TimerKey, Timer> timers = new LinkedHashMap<>();
    final List<Event> events = new ArrayList<>();
    final List<ChangeSet.StepResult> results = new ArrayList<>();
    final List<Evaluate> evaluations = new ArrayList<>();
    /** What the holder of a claimed step may execute after it. */
    final Map<StepRow, ChangeSet.Chain> chains = new HashMap<>();
    /** What the run has asked of others. */
    final List<Evaluate> elsewhere = new ArrayList<>();
    final Map<UUID, String> outputs = new HashMap<>();
    final Bank bank;
    RunView view;
    /** The node that decides and takes what it can at once; null when everything goes through the queue. */
    String holder;
    Instant now = Instant.parse("2026-01-01T00:00:00Z");
    Prices prices = Prices.NONE;
    private long lastId;

    private World(Bank bank, long firstId) {
        this.bank = bank;
        this.lastId = firstId;
    }

    static World accept(RunPolicy policy, Plan plan) {
        return fork(policy, plan, null, false);
    }

    /** @param fork null for a run of its own */
    static World fork(RunPolicy policy, Plan plan, NewRun.Fork fork, boolean start) {
        return accept(policy, plan, null, fork, start);
    }

    /** A run that has an output of its own. */
    static World startWithOutput(RunPolicy policy, Plan plan) {
        return accept(policy, plan, "{}", null, true);
    }

    private static World accept(RunPolicy policy, Plan plan, String output, NewRun.Fork fork, boolean start) {
        Bank bank = new Bank();
        bank.grant(WORKSPACE, new BigDecimal("1000000.000000"));
        World world = new World(bank, 0);
        world.create(new NewRun(new UUID(0, 0), WORKSPACE, "r", null, "goal", plan, "{}", "{}", policy, "{}",
                "[]", output, 100, "manual", null, null, false, "ann", fork), start);
        return world;
    }

    /** A run that shares its workspace with others: started, or refused, and then it has no view. */
    static World start(Bank bank, int number, RunPolicy policy, Plan plan) {
        World world = new World(bank, number * 1_000_000L);
        world.create(new NewRun(new UUID(0, number), WORKSPACE, "r", null, "goal", plan, "{}", "{}", policy, "{}",
                "[]", null, 100, "manual", null, null, "ann"), true);
        return world;
    }

    /** A run that is to start by itself so much later. */
    static World startingIn(Bank bank, Duration delay, Plan plan) {
        World world = new World(bank, 0);
        world.create(new NewRun(new UUID(0, 0), WORKSPACE, "r", null, "goal", plan, "{}", "{}", RunPolicy.DEFAULT, "{}",
                "[]", null, 100, "manual", null, null, "ann").startingAt(world.now.plus(delay)), false);
        return world;
    }

    private void create(NewRun run, boolean start) {
        ChangeSet changes = new ChangeSet();
        view = Decider
                .create(new Command.Create(run, start, WHO), changes, now, this::nextId, LocalCapacity.none(), funds())
                .view();
        if (view == null) {
            assertThat(changes.newRuns()).as("a refusal changes nothing").isEmpty();
            assertThat(changes.transfers()).isEmpty();
        } else {
            commit(changes);
        }
    }

    private Funds funds() {
        return new Funds(prices, bank.balances());
    }

    static World start(RunPolicy policy, Plan plan) {
        World world = accept(policy, plan);
        world.done(new Command.Start(world.id(), WHO));
        return world;
    }

    static World start(Plan plan) {
        return start(RunPolicy.DEFAULT, plan);
    }

    UUID id() {
        return view.run().id();
    }

    private UUID nextId() {
        return new UUID(1, ++lastId);
    }

    Reply send(Command command) {
        return send(command,
                holder == null ? LocalCapacity.none() : new LocalCapacity(holder, tool -> true, LEASE, 2));
    }

    Reply send(Command command, LocalCapacity capacity) {
        ChangeSet changes = new ChangeSet();
        Reply reply = Decider.decide(view, command, changes, now, this::nextId, capacity, funds());
        if (reply instanceof Reply.Rejected && !(command instanceof Command.Claim)
                && !(reply instanceof Reply.Rejected r
                        && Set.of("ARTIFACT_NAME_TAKEN", "VERDICT_UNREADABLE", "TURN_UNREADABLE").contains(r.code()))) {
            assertThat(changes.events()).as("a refusal changes nothing").isEmpty();
            assertThat(changes.runs()).isEmpty();
            assertThat(changes.transfers()).isEmpty();
        }
        commit(changes);
        return reply;
    }

    void done(Command command) {
        assertThat(send(command)).as(command.toString()).isEqualTo(Reply.CHANGED);
    }

    Reply.Rejected refused(Command command) {
        Reply reply = send(command);
        assertThat(reply).isInstanceOf(Reply.Rejected.class);
        return (Reply.Rejected) reply;
    }

    private void commit(ChangeSet changes) {
        if (!changes.clearedRuns().isEmpty()) {
            queue.clear();
            timers.clear();
        }
        changes.queue().forEach((lane, item) -> item.filter(i -> i.runId().equals(id()))
                .ifPresentOrElse(i -> queue.put(lane, i), () -> queue.remove(lane)));
        changes.handledTimers().forEach(timer -> timers.values().remove(timer));
        changes.timers().forEach((key, timer) -> timer.filter(t -> t.runId().equals(id()))
                .ifPresentOrElse(t -> timers.put(key, t), () -> timers.remove(key)));
        changes.evaluations().forEach(asked -> (asked.runId().equals(id()) ? evaluations : elsewhere).add(asked));
        Stream.concat(changes.newSteps().stream(), changes.steps().stream()).forEach(step -> {
            String output = changes.outputOf(step);
            if (output != null) {
                outputs.put(step.id(), output);
            }
        });
        for (Event event : changes.events().stream().filter(each -> each.runId().equals(id())).toList()) {
            events.add(event);
            assertThat(event.seq()).as("no gap").isEqualTo(events.size());
        }
        results.addAll(changes.results());
        changes.started().keySet().stream().filter(StepRow::isHeld)
                .forEach(step -> chains.put(step, changes.chainOf(step)));
        bank.commit(changes);
        Invariants.check(this);
    }

    /** Claims all unclaimed work in the queue, in dispatch order. */
    List<StepRow> claimAll() {
        List<StepRow> claimed = new ArrayList<>();
        List<QueueItem> waiting = queue.values().stream().filter(i -> i.holder() == null)
                .sorted(Comparator.comparing(QueueItem::queuedAt)).toList();
        for (QueueItem item : waiting) {
            claimed.add(claim(item, "w1"));
        }
        return claimed;
    }

    StepRow claim(QueueItem item, String worker) {
        Reply reply = send(new Command.Claim(id(), item.key().taskId(), item.key().lane(), worker, LEASE,
                Actor.agent(worker)));
        assertThat(reply).isInstanceOf(Reply.Claimed.class);
        return view.steps.get(((Reply.Claimed) reply).assignment().stepId());
    }

    void complete(StepRow step) {
        done(new Command.Complete(id(), step.id(), step.leaseEpoch(), GOOD, Actor.agent("w1")));
    }

    void verdict(StepRow verifier, Verdict.Outcome outcome) {
        verdict(verifier, new Verdict(outcome, BigDecimal.ONE, "feedback"));
    }

    void verdict(StepRow verifier, Verdict verdict) {
        Result result = new Result("1", Tokens.NONE, null, null, List.of(), verdict);
        done(new Command.Complete(id(), verifier.id(), verifier.leaseEpoch(), result, Actor.agent("w1")));
    }

    /** The holder of the step's lease sends no heartbeat in time. */
    void expire(StepRow step) {
        done(new Command.LeaseExpired(id(), step.id(), step.leaseEpoch(), LEASE, Actor.RECONCILER));
    }

    void fail(StepRow step, ErrorClass errorClass) {
        done(new Command.Fail(id(), step.id(), step.leaseEpoch(), new StepError("BROKEN", errorClass, "broken"),
                Result.of("null"), Actor.agent("w1")));
    }

    /** Lets time pass to the next timer and delivers it, but for the watch over timeouts. */
    void nextTimer() {
        deliver(timers.values().stream().filter(each -> each.key().kind() != TimerKind.WATCH)
                .min(Comparator.comparing(Timer::dueAt)).orElseThrow());
    }

    /** What timers are armed, but for the watch over timeouts. */
    List<TimerKind> armed() {
        return timers.keySet().stream().map(TimerKey::kind).filter(kind -> kind != TimerKind.WATCH).toList();
    }

    /** Lets time pass and delivers the watch over timeouts whenever it is due. */
    void watchUntil(Instant until) {
        for (Timer watch = watch(); watch != null && !watch.dueAt().isAfter(until); watch = watch()) {
            now = watch.dueAt().isAfter(now) ? watch.dueAt() : now;
            send(new Command.TimerDue(id(), TimerKind.WATCH, id(), Actor.RECONCILER));
            assertThat(watch() == null || watch().dueAt().isAfter(now)).as("a watch that has looked rests").isTrue();
        }
        now = until;
    }

    private Timer watch() {
        return timers.get(new TimerKey(TimerKind.WATCH, id()));
    }

    void answer(Evaluate asked, Command.Evaluation answer) {
        evaluations.remove(asked);
        send(new Command.Evaluated(id(), asked.kind(), asked.subject(), answer, Actor.SYSTEM));
    }

    /** Completes everything that comes up until nothing moves any more. */
    void work() {
        List<StepRow> claimed = claimAll();
        while (!claimed.isEmpty()) {
            claimed.forEach(this::complete);
            claimed = claimAll();
        }
    }

    /** The tasks named fail whenever they are tried, all others succeed, and time passes, until nothing moves. */
    void playOut(String... failing) {
        playOut(ErrorClass.INFRASTRUCTURE, failing);
    }

    void playOut(ErrorClass how, String... failing) {
        Set<String> unlucky = Set.of(failing);
        while (!state().terminal()) {
            List<StepRow> claimed = claimAll();
            for (StepRow step : claimed) {
                if (unlucky.contains(step.task().key()) && step.isHeld()) {
                    fail(step, how);
                } else if (step.isHeld()) {
                    complete(step);
                }
            }
            if (claimed.isEmpty() && !nextBackoff()) {
                return;
            }
        }
    }

    /** Claims and fails the task's step, and again after each backoff, until the task is not tried any more. */
    void exhaust(String key) {
        for (QueueItem item = queued(key); item != null; item = queued(key)) {
            fail(claim(item, "w1"), ErrorClass.INFRASTRUCTURE);
            while (queued(key) == null && !state().terminal() && nextBackoff()) {}
        }
    }

    /** Fails the task's present step until that is not tried any more. */
    void exhaustStep(String key) {
        StepRow step = claim(key);
        fail(step, ErrorClass.INFRASTRUCTURE);
        while (step.state() == StepState.AWAITING_RETRY && !step.parked()) {
            deliver(TimerKind.STEP_RETRY, step.id());
            fail(claim(key), ErrorClass.INFRASTRUCTURE);
        }
    }

    private QueueItem queued(String key) {
        return queue.values().stream().filter(item -> item.holder() == null)
                .filter(item -> view.task(item.key().taskId()).key().equals(key)).findFirst().orElse(null);
    }

    /** Claims the task's step. */
    StepRow claim(String key) {
        return claim(queued(key), "w1");
    }

    /** Lets time pass to the next end of a backoff or pause and delivers it; false when there is none. */
    boolean nextBackoff() {
        Set<TimerKind> backoffs = EnumSet.of(TimerKind.STEP_RETRY, TimerKind.TASK_RETRY, TimerKind.AGENT_RETRY,
                TimerKind.RUN_RETRY, TimerKind.TASK_CONTINUE);
        Timer timer = timers.values().stream().filter(each -> backoffs.contains(each.key().kind()))
                .min(Comparator.comparing(Timer::dueAt)).orElse(null);
        if (timer != null) {
            deliver(timer);
        }
        return timer != null;
    }

    /** Lets time pass until the timer is due, and delivers it. */
    void deliver(TimerKind kind, UUID subject) {
        deliver(timers.get(new TimerKey(kind, subject)));
    }

    private void deliver(Timer timer) {
        now = timer.dueAt().isAfter(now) ? timer.dueAt() : now;
        send(new Command.TimerDue(id(), timer.key().kind(), timer.key().subject(), Actor.SYSTEM));
    }

    Instant due(TimerKind kind, UUID subject) {
        return timers.get(new TimerKey(kind, subject)).dueAt();
    }

    /** Advances time without a running engine node. */
    void outage(Duration length) {
        view.add(new EngineOutage(now, now.plus(length)));
        now = now.plus(length);
    }

    List<Event> events(String type) {
        return events.stream().filter(event -> event.type().wire().equals(type)).toList();
    }

    Event last(String type) {
        return events(type).getLast();
    }

    TicketRow ticket() {
        assertThat(view.tickets()).hasSize(1);
        return view.tickets().iterator().next();
    }

    void resolve(TicketRow ticket, Command.Resolution resolution) {
        done(new Command.Resolve(id(), ticket.id(), resolution, null, WHO));
    }

    AgentRow agent(String name) {
        return view.agents().stream().filter(agent -> name.equals(agent.name())).findFirst().orElseThrow();
    }

    TaskRow task(String key) {
        return view.tasks().stream().filter(t -> t.key().equals(key)).findFirst().orElseThrow();
    }

    StepRow step(String task, String name) {
        return task(task).steps().stream().filter(s -> s.name().equals(name)).findFirst().orElseThrow();
    }

    Map<String, TaskState> taskStates() {
        Map<String, TaskState> states = new TreeMap<>();
        view.tasks().forEach(task -> states.put(task.key(), task.state()));
        return states;
    }

    RunState state() {
        return view.run().state();
    }

    List<String> eventTypes() {
        return events.stream().map(event -> event.type().wire()).toList();
    }

    long running() {
        return view.tasks().stream().flatMap(t -> t.steps().stream()).filter(s -> s.state() == StepState.RUNNING)
                .count();
    }
}
