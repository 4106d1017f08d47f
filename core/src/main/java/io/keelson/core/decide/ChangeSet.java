package io.keelson.core.decide;

import io.keelson.core.decide.LocalCapacity.RemoteSlot;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.money.Amounts;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.Transfer;
import io.keelson.core.run.Actor;
import io.keelson.core.run.CallWait;
import io.keelson.core.run.Event;
import io.keelson.core.run.NewArtifact;
import io.keelson.core.run.NewProposal;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Signal;
import io.keelson.core.run.StepAssignment;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import io.keelson.core.run.VersionRule;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Changes of one batch's decisions, written in one transaction: rows to insert and to update, events,
 * and operations on the work queue and the timers. Rows are the views' own and carry their final values; the writer
 * reads them before the next batch is decided.
 */
public final class ChangeSet {

    /** A lane of a task: the key of the work queue. */
    public record Lane(UUID taskId, int lane) {}

    /**
     * A row of the work queue.
     *
     * @param tool the tool of the lane's next step
     * @param input the next step's input, as JSON text
     * @param holder null while it may be claimed
     * @param lease length of the lease; null if not held
     * @param timeout maximum duration of the execution by a remote worker; null otherwise
     * @param hold credits held for the lease; null if absent
     * @param lot its place among the work of its tool; null under a lease, and if the tool has no rule about versions
     * @param agent of the roster that does the task; null if absent
     */
    public record QueueItem(Lane key, UUID runId, UUID workspaceId, int priority, String tool, String input,
            Instant queuedAt,
            @Nullable String holder, @Nullable Duration lease, @Nullable Duration timeout, @Nullable Hold hold,
            @Nullable Lot lot, @Nullable String agent) {}

    /**
     * Unclaimed work of a tool that all goes to the same version of workers.
     *
     * @param name stays the same while the rule about versions changes
     * @param version whose workers may claim it by the rule of this moment
     */
    public record Lot(String name, String version) {
        private static final String PINNED = "=";

        /** The lot of runs in a part of all runs. */
        public static Lot of(int bucket, String version) {
            return new Lot(bucketName(bucket), version);
        }

        /** The lot of runs that stay with a version. */
        public static Lot pinned(String version) {
            return new Lot(PINNED + version, version);
        }

        private static String bucketName(int bucket) {
            return bucket < 10 ? "0" + bucket : Integer.toString(bucket);
        }

        /** The version whose workers may claim from the lot of that name. */
        public static String version(VersionRule rule, String name) {
            return name.startsWith(PINNED) ? name.substring(PINNED.length()) : rule.target(Integer.parseInt(name));
        }

        /** The names of the lots that workers of a version may claim from. */
        public static List<String> names(VersionRule rule, String version) {
            List<String> names = new ArrayList<>(List.of(PINNED + version));
            for (int bucket = 0; bucket < VersionRule.BUCKETS; bucket++) {
                if (rule.target(bucket).equals(version)) {
                    names.add(bucketName(bucket));
                }
            }
            return names;
        }
    }

    /** The version of workers that a run stays with for a tool. */
    public record Pin(RunRow run, String tool, String version) {}

    /** A step for a worker whose claim waits. */
    public record Given(RemoteSlot slot, StepAssignment assignment) {}

    /** A lease that a holder had and has lost. */
    public record Lost(UUID stepId, int epoch, String holder) {}

    public record TimerKey(TimerKind kind, UUID subject) {}

    /** @param question of the kind {@link TimerKind#HUMAN}; null for other kinds */
    public record Timer(TimerKey key, UUID runId, Instant dueAt, @Nullable Question question) {

        public Timer(TimerKey key, UUID runId, Instant dueAt) {
            this(key, runId, dueAt, null);
        }
    }

    /**
     * One attempt of a run, as stored in its row.
     *
     * @param failures what had failed when it ended: tasks, and steps of tasks that continued without them
     * @param credits the attempt's account
     */
    public record Attempt(UUID runId, int number, String state, Instant startedAt, @Nullable Instant completedAt,
            @Nullable String errorCode, @Nullable String errorMessage, int failures, Account credits) {}

    /**
     * The credits of one attempt.
     *
     * @param settledAt time of the refund of its unused credits; from then on charged + refunded = reserved; null while
     *            it is open
     */
    public record Account(BigDecimal reserved, BigDecimal charged, BigDecimal refunded, BigDecimal uncollected,
            @Nullable Instant settledAt) {

        /** The account of an open attempt. */
        static Account open(RunRow run) {
            return new Account(run.reserved, run.charged, Amounts.ZERO, run.uncollected, null);
        }
    }

    /** The change of a workspace's balances. Charges of an open attempt are still part of its reservation. */
    public record Balance(UUID workspaceId, BigDecimal available, BigDecimal reserved, BigDecimal spent) {

        private Balance plus(Balance other) {
            return new Balance(workspaceId, available.add(other.available), reserved.add(other.reserved),
                    spent.add(other.spent));
        }

        private boolean nothing() {
            return available.signum() == 0 && reserved.signum() == 0 && spent.signum() == 0;
        }
    }

    /**
     * The recorded outcome of one lease on a step.
     *
     * @param outcome {@code completed}, {@code continued}, {@code failed}, or {@code lost} for a lease without a report
     * @param attempt of the step
     * @param input JSON text of the resolved input; null when it is the plan's own or unknown
     * @param outputHash of the output as a worker reported it; null where no report can be repeated
     * @param model that used the tokens; null when none is named
     * @param sole true when the tokens and the cost are all that the step has used
     */
    public record StepResult(UUID stepId, int epoch, UUID runId, String outcome, int attempt,
            @Nullable Instant startedAt, @Nullable String input, @Nullable Long outputHash,
            @Nullable StepError error, @Nullable String model, Tokens tokens, BigDecimal cost, @Nullable String holder,
            boolean sole) {

        public @Nullable String errorCode() {
            return error == null ? null : error.code();
        }

        public @Nullable String system() {
            return error == null ? null : error.system();
        }

        /** This result with the usage of another one of the same lease. */
        public StepResult with(StepResult more) {
            return new StepResult(stepId, epoch, runId, outcome, attempt, startedAt, input, outputHash, error,
                    model == null ? more.model : model, tokens.plus(more.tokens), Amounts.exact(cost.add(more.cost)),
                    holder, false);
        }
    }

    /** @param replaces whether its name was that of an artifact of an earlier attempt of its task or step */
    public record Artifact(UUID id, UUID runId, UUID workspaceId, int attempt, UUID stepId, NewArtifact stored,
            boolean replaces) {}

    /** A step's proposal to people. */
    public record Proposal(NewProposal made, UUID runId, UUID workspaceId, int attempt, UUID taskId, UUID stepId,
            Instant createdAt, @Nullable Instant expiresAt) {}

    /**
     * A proposal that is no longer pending.
     *
     * @param state {@code accepted}, {@code rejected} or {@code withdrawn}
     */
    public record ProposalEnd(UUID id, String state, String by, @Nullable String comment, Instant at) {}

    /** A new version of a run's plan, as it is to be stored. */
    public record NewPlan(RunRow run, int version, String json) {}

    /** A dependency between tasks; the downstream task is not new. */
    public record Link(TaskRow task, TaskRow upstream) {}

    /** A ticket that was opened, changed or answered. */
    public record Ticket(RunRow run, TicketRow row) {}

    /**
     * A received signal.
     *
     * @param seq the number of its event: signals are taken in this order
     * @param takenBy the step; null while it is kept
     */
    public record NewSignal(RunRow run, Signal signal, long seq, Actor actor, @Nullable UUID takenBy, Instant at) {}

    /** A kept signal that a step has consumed. */
    public record TakenSignal(UUID id, UUID stepId, Instant at) {}

    /**
     * The wait of a step's call.
     *
     * @param epoch of the lease under which the holder reported it
     */
    public record Call(RunRow run, StepRow step, CallWait now, int epoch) {}

    /**
     * The answer to the question that a call waits for.
     *
     * @param answers JSON text
     */
    public record CallAnswer(UUID stepId, String answers, Actor by) {}

    /**
     * A request of a step's program to a model, which is about to be sent.
     *
     * @param k2 second digest
     * @param facts JSON text
     */
    public record NewRequest(RunRow run, StepRow step, OpenRequest open, String k2, String facts) {}

    /**
     * The end of such a request.
     *
     * @param state {@code answered}, {@code refused} or {@code lost}
     * @param answer JSON text; null if absent
     */
    public record EndedRequest(UUID id, String state, Tokens tokens, BigDecimal cost, @Nullable String answer) {}

    /** A child run, with its row in the parent's view. */
    public record Child(RunRow run, ChildRow row) {}

    /**
     * The steps that the holder of a step may execute after it, before a commit records their ends.
     *
     * @param steps in their order, not begun
     * @param endsAtCharge whether the chain ends after a step that has reported a cost or tokens, because a limit may keep the
     *                     next one from beginning
     * @param repeatable whether the holder may execute the claimed step before a commit records its lease, because its tool has no
     *                   effect
     */
    public record Chain(List<StepRow> steps, boolean endsAtCharge, boolean repeatable) {
        public static final Chain NONE = new Chain(List.of(), false, false);
    }

    /** The undo of an ended run. */
    public record RunUndo(RunRow run, UndoRow row) {}

    /** The key of a vote. */
    public record VoteKey(UUID runId, UUID subject, String voter) {}

    /** A vote of a run. */
    public record Vote(RunRow run, VoteRow row) {}

    private record BudgetKey(UUID runId, String task) {}

    /** A task's budget, as stored for its run. */
    public record Budget(RunRow run, TaskBudgetRow row) {}

    /** A request to the evaluator, sent after the commit. */
    public record Evaluate(UUID runId, TimerKind kind, UUID subject) {}

    /** The run and the attempt that a new row belongs to; the run may be at a later attempt by the end of the batch. */
    public record Owner(RunRow run, int attempt) {}

    private record AttemptKey(UUID runId, int number) {}

    private final List<NewRun> newRuns = new ArrayList<>();
    private final Set<UUID> newRunIds = new HashSet<>();
    private final Set<RunRow> runs = new LinkedHashSet<>();
    private final Map<AttemptKey, Attempt> attempts = new LinkedHashMap<>();
    private final Set<AgentRow> newAgents = new LinkedHashSet<>();
    private final Set<AgentRow> agents = new LinkedHashSet<>();
    private final Set<TaskRow> newTasks = new LinkedHashSet<>();
    private final Set<TaskRow> tasks = new LinkedHashSet<>();
    private final Set<StepRow> newSteps = new LinkedHashSet<>();
    private final Set<StepRow> steps = new LinkedHashSet<>();
    /** Ended rounds of tasks, of which one row each is left. */
    private final Set<TaskRow> folded = new LinkedHashSet<>();
    private final Map<Object, Owner> owners = new HashMap<>();
    private final Map<UUID, String> stepOutputs = new HashMap<>();
    private final Map<UUID, String> stepInputs = new HashMap<>();
    private final Map<UUID, String> taskOutputs = new HashMap<>();
    private final List<Event> events = new ArrayList<>();
    /** Transfers of runs before their first reservation in this change. */
    private final List<Transfer> transfers = new ArrayList<>();
    /** First reservations of runs, and all later transfers of these runs. */
    private final List<Transfer> reservations = new ArrayList<>();
    private final Set<UUID> reserving = new HashSet<>();
    private final Map<UUID, Balance> balances = new LinkedHashMap<>();
    private final Map<Lane, Optional<QueueItem>> queue = new LinkedHashMap<>();
    private final Set<Lane> queued = new HashSet<>();
    private final Map<TimerKey, Optional<Timer>> timers = new LinkedHashMap<>();
    private final List<Timer> answered = new ArrayList<>();
    private final Set<UUID> clearedRuns = new LinkedHashSet<>();
    private final Map<UUID, NewPlan> plans = new LinkedHashMap<>();
    private final List<Link> links = new ArrayList<>();
    private final Map<UUID, Ticket> newTickets = new LinkedHashMap<>();
    private final Map<UUID, Ticket> tickets = new LinkedHashMap<>();
    private final Map<BudgetKey, Budget> budgets = new LinkedHashMap<>();
    private final Map<UUID, Child> children = new LinkedHashMap<>();
    private final Set<RunRow> parents = new LinkedHashSet<>();
    private final List<Pin> pins = new ArrayList<>();
    private final Map<UUID, RunUndo> undos = new LinkedHashMap<>();
    private final Map<VoteKey, Optional<Vote>> votes = new LinkedHashMap<>();
    private final List<NewSignal> newSignals = new ArrayList<>();
    private final List<TakenSignal> takenSignals = new ArrayList<>();
    private final Map<UUID, Call> calls = new LinkedHashMap<>();
    private final Map<UUID, CallAnswer> callAnswers = new LinkedHashMap<>();
    private final Set<UUID> forgottenCalls = new LinkedHashSet<>();
    private final List<NewRequest> newRequests = new ArrayList<>();
    private final List<EndedRequest> endedRequests = new ArrayList<>();
    private final List<StepResult> results = new ArrayList<>();
    private final List<Artifact> artifacts = new ArrayList<>();
    private final Set<RunRow> endedWithArtifacts = new LinkedHashSet<>();
    private final List<Proposal> proposals = new ArrayList<>();
    private final List<ProposalEnd> proposalEnds = new ArrayList<>();
    private final Map<StepRow, RunRow> started = new LinkedHashMap<>();
    private final Map<StepRow, Supplier<Chain>> chains = new HashMap<>();
    private final Map<StepRow, Given> given = new LinkedHashMap<>();
    private final Map<StepRow, Lost> stopped = new LinkedHashMap<>();
    private final List<Evaluate> evaluations = new ArrayList<>();

    void insert(NewRun run) {
        newRuns.add(run);
        newRunIds.add(run.id());
    }

    /**
     * Marks the run's version as changed. Every change of a view must come with it, or other nodes keep a stale view.
     */
    void touch(RunRow run) {
        if (runs.add(run)) {
            run.version++;
        }
    }

    void attempt(Attempt attempt) {
        attempts.put(new AttemptKey(attempt.runId(), attempt.number()), attempt);
    }

    void insert(RunRow run, AgentRow agent) {
        newAgents.add(agent);
        owners.put(agent, new Owner(run, run.attempt));
    }

    void touch(AgentRow agent) {
        if (!newAgents.contains(agent)) {
            agents.add(agent);
        }
    }

    void insert(RunRow run, TaskRow task) {
        newTasks.add(task);
        owners.put(task, new Owner(run, run.attempt));
    }

    void touch(TaskRow task) {
        if (!newTasks.contains(task)) {
            tasks.add(task);
        }
    }

    /** Replaces the rows of an ended round by one row, after its changes were written. */
    void fold(TaskRow round) {
        folded.add(round);
    }

    void insert(RunRow run, StepRow step) {
        newSteps.add(step);
        owners.put(step, new Owner(run, run.attempt));
    }

    void touch(StepRow step) {
        if (!newSteps.contains(step)) {
            steps.add(step);
        }
    }

    void output(StepRow step, String json) {
        step.yielded(json);
        stepOutputs.put(step.id(), json);
    }

    void resolvedInput(StepRow step, String json) {
        stepInputs.put(step.id(), json);
    }

    void output(TaskRow task, String json) {
        taskOutputs.put(task.id(), json);
    }

    void add(Event event) {
        events.add(event);
    }

    void add(Transfer transfer) {
        if (transfer.kind() == Transfer.Kind.RESERVE) {
            reserving.add(transfer.runId());
        }
        (reserving.contains(transfer.runId()) ? reservations : transfers).add(transfer);
    }

    /** Reserves that much of the workspace's credits. */
    void reserve(UUID workspace, BigDecimal amount) {
        balances.merge(workspace, new Balance(workspace, amount.negate(), amount, Amounts.ZERO), Balance::plus);
    }

    /** Ends a reservation: {@code charged} was used, the rest is released. */
    void settle(UUID workspace, BigDecimal reserved, BigDecimal charged) {
        balances.merge(workspace, new Balance(workspace, reserved.subtract(charged), reserved.negate(), charged),
                Balance::plus);
    }

    void put(QueueItem item) {
        queue.put(item.key(), Optional.of(item));
        queued.add(item.key());
    }

    /** True when these changes have contained a row of the lane: the row in the database, if any, is older. */
    boolean hasPut(Lane lane) {
        return queued.contains(lane);
    }

    void pin(Pin pin) {
        pins.add(pin);
    }

    void remove(Lane lane) {
        queue.put(lane, Optional.empty());
    }

    /** The lane's next step continues under the lease that its row already records. */
    void retain(Lane lane) {
        queue.remove(lane);
    }

    void arm(Timer timer) {
        timers.put(timer.key(), Optional.of(timer));
    }

    void disarm(TimerKey key) {
        timers.put(key, Optional.empty());
    }

    /** Disarms a timer that was handled; another run may have armed it again since. */
    void disarmHandled(Timer timer) {
        answered.add(timer);
    }

    /** The run has ended: removes all its queue rows and timers. Lanes that are left need no removal of their own. */
    void clear(RunView view) {
        UUID runId = view.run.id();
        clearedRuns.add(runId);
        queue.entrySet().removeIf(each -> each.getValue().map(item -> item.runId().equals(runId))
                .orElse(view.tasks.containsKey(each.getKey().taskId())));
        timers.values().removeIf(timer -> timer.isPresent() && timer.get().runId().equals(runId));
        evaluations.removeIf(evaluate -> evaluate.runId().equals(runId));
    }

    void plan(RunRow run, String json) {
        plans.put(run.id(), new NewPlan(run, run.planVersion, json));
    }

    void link(TaskRow task, TaskRow upstream) {
        links.add(new Link(task, upstream));
    }

    void insert(RunRow run, TicketRow ticket) {
        newTickets.put(ticket.id(), new Ticket(run, ticket));
    }

    void touch(RunRow run, TicketRow ticket) {
        if (!newTickets.containsKey(ticket.id())) {
            tickets.put(ticket.id(), new Ticket(run, ticket));
        }
    }

    void put(RunRow run, ChildRow child) {
        touch(run);
        children.put(child.stepId(), new Child(run, child));
    }

    void put(RunRow run, UndoRow undo) {
        touch(run);
        undos.put(run.id(), new RunUndo(run, undo));
    }

    void put(RunRow run, VoteRow vote) {
        touch(run);
        votes.put(new VoteKey(run.id(), vote.subject(), vote.voter()), Optional.of(new Vote(run, vote)));
    }

    void remove(RunRow run, VoteRow vote) {
        touch(run);
        votes.put(new VoteKey(run.id(), vote.subject(), vote.voter()), Optional.empty());
    }

    void put(RunRow run, TaskBudgetRow budget) {
        touch(run);
        budgets.put(new BudgetKey(run.id(), budget.task()), new Budget(run, budget));
    }

    /** The run's parent row has changed. */
    void touchParent(RunRow run) {
        touch(run);
        parents.add(run);
    }

    void add(NewSignal signal) {
        newSignals.add(signal);
    }

    void add(TakenSignal signal) {
        takenSignals.add(signal);
    }

    void put(Call call) {
        UUID step = call.step().id();
        forgottenCalls.remove(step);
        callAnswers.remove(step);
        calls.put(step, call);
    }

    void add(CallAnswer answer) {
        callAnswers.put(answer.stepId(), answer);
    }

    void forgetCall(StepRow step) {
        calls.remove(step.id());
        callAnswers.remove(step.id());
        forgottenCalls.add(step.id());
    }

    void add(NewRequest request) {
        newRequests.add(request);
    }

    void end(EndedRequest request) {
        endedRequests.add(request);
    }

    void add(StepResult result) {
        results.add(result);
    }

    /** Adds the result of a lease, or its usage to that of a result that the lease has, in this change or before. */
    void amend(StepResult more) {
        for (int i = 0; i < results.size(); i++) {
            StepResult has = results.get(i);
            if (has.stepId().equals(more.stepId()) && has.epoch() == more.epoch()) {
                results.set(i, has.with(more));
                return;
            }
        }
        results.add(more);
    }

    void add(Artifact artifact) {
        artifacts.add(artifact);
    }

    /** The run has ended with artifacts; their retention begins. */
    void endArtifacts(RunRow run) {
        endedWithArtifacts.add(run);
    }

    void add(Proposal proposal) {
        proposals.add(proposal);
    }

    void add(ProposalEnd end) {
        proposalEnds.add(end);
    }

    void started(RunRow run, StepRow step) {
        started.put(step, run);
    }

    /** @param chain evaluated only for a step that the deciding node executes */
    void chain(StepRow step, Supplier<Chain> chain) {
        chains.put(step, chain);
    }

    void assign(StepRow step, Given assignment) {
        given.put(step, assignment);
    }

    void stopped(StepRow step) {
        given.remove(step);
        if (started.remove(step) == null) {
            stopped.put(step, new Lost(step.id(), step.leaseEpoch, Objects.requireNonNull(step.holder)));
        }
    }

    void evaluate(Evaluate evaluate) {
        evaluations.add(evaluate);
    }

    public List<NewRun> newRuns() {
        return newRuns;
    }

    /** True when this batch creates the run. */
    public boolean isNew(UUID runId) {
        return newRunIds.contains(runId);
    }

    /** Runs to update. Includes {@link #newRuns}, which are inserted with their final values. */
    public Set<RunRow> runs() {
        return runs;
    }

    public Collection<Attempt> attempts() {
        return attempts.values();
    }

    public Set<AgentRow> newAgents() {
        return newAgents;
    }

    public Set<AgentRow> agents() {
        return agents;
    }

    /** Ended rounds whose rows are replaced by one row each. */
    public Set<TaskRow> folded() {
        return folded;
    }

    public Set<TaskRow> newTasks() {
        return newTasks;
    }

    public Set<TaskRow> tasks() {
        return tasks;
    }

    public Set<StepRow> newSteps() {
        return newSteps;
    }

    public Set<StepRow> steps() {
        return steps;
    }

    /**
     * The step of {@link #steps} whose end began another one of them: the one before it in its lane, completed when the
     * other began.
     *
     * @return null if absent
     */
    public @Nullable StepRow handedBy(StepRow step) {
        List<StepRow> all = step.task().steps;
        int at = step.state == StepState.RUNNING && step.lane() == 0 ? all.indexOf(step) : 0;
        if (at < 1) {
            return null;
        }
        StepRow before = all.get(at - 1);
        return before.state == StepState.COMPLETED && before.lane() == 0 && step.position() - before.position() <= 1
                && Objects.equals(before.completedAt, step.startedAt) && steps.contains(before) ? before : null;
    }

    /** The owner of a row of the {@code new…} sets. */
    public Owner ownerOf(Object newRow) {
        return Objects.requireNonNull(owners.get(newRow));
    }

    /** JSON text of the output that a step got in this batch; null when it got none. */
    public @Nullable String outputOf(StepRow step) {
        return stepOutputs.get(step.id());
    }

    /** JSON text of the input as resolved when the engine opened the step; null when it did not. */
    public @Nullable String resolvedInputOf(StepRow step) {
        return stepInputs.get(step.id());
    }

    public @Nullable String outputOf(TaskRow task) {
        return taskOutputs.get(task.id());
    }

    /** Calls that wait for something else than before. */
    public Collection<Call> calls() {
        return calls.values();
    }

    /** Answers to questions of calls, to write after {@link #calls}. */
    public Collection<CallAnswer> callAnswers() {
        return callAnswers.values();
    }

    /** Steps of whose calls nothing is known any more. */
    public Set<UUID> forgottenCalls() {
        return forgottenCalls;
    }

    public List<Event> events() {
        return events;
    }

    /**
     * Rows of the ledger. Credits that runs give back come first, as other runs may reserve them in this change. A refund behind a
     * reservation of its run stays behind it.
     */
    public List<Transfer> transfers() {
        if (reservations.isEmpty()) {
            return transfers;
        }
        List<Transfer> all = new ArrayList<>(transfers);
        all.addAll(reservations);
        return all;
    }

    /**
     * Credits that runs give back behind a reservation in this change, by workspace. The balance's change does not have them, so the
     * balance must have them beside it: else a reservation would exceed it.
     */
    public Map<UUID, BigDecimal> passingCredits() {
        Map<UUID, BigDecimal> passing = new HashMap<>();
        for (Transfer transfer : reservations) {
            if (transfer.kind() == Transfer.Kind.REFUND) {
                passing.merge(transfer.workspaceId(), transfer.amount(), BigDecimal::add);
            }
        }
        return passing;
    }

    /** Changes of balances, one for each workspace that has one. */
    public List<Balance> balances() {
        return balances.values().stream().filter(balance -> !balance.nothing()).toList();
    }

    /** Rows of the work queue to write (present) or delete (empty). */
    public Map<Lane, Optional<QueueItem>> queue() {
        return queue;
    }

    /** Timers to arm (present) or disarm (empty). */
    public Map<TimerKey, Optional<Timer>> timers() {
        return timers;
    }

    /** Timers to disarm if still due at the given time, before those above are written. */
    public List<Timer> handledTimers() {
        return answered;
    }

    /** Runs whose queue rows and timers are all deleted, before those above are written. */
    public Set<UUID> clearedRuns() {
        return clearedRuns;
    }

    /** Plans that replace stored ones. */
    public Collection<NewPlan> plans() {
        return plans.values();
    }

    /** Dependencies of tasks that are not new. */
    public List<Link> links() {
        return links;
    }

    public Collection<Ticket> newTickets() {
        return newTickets.values();
    }

    public Collection<Ticket> tickets() {
        return tickets.values();
    }

    /** Undos of runs to insert or to replace. */
    public Collection<RunUndo> undos() {
        return undos.values();
    }

    /** Votes to insert or to replace (present) or to delete (empty). */
    public Map<VoteKey, Optional<Vote>> votes() {
        return votes;
    }

    /** Rows of children to insert or to replace. */
    public Collection<Child> children() {
        return children.values();
    }

    /** Budgets of tasks to insert or to replace. */
    public Collection<Budget> budgets() {
        return budgets.values();
    }

    /** Runs whose knowledge of their parent has changed. */
    public Set<RunRow> parents() {
        return parents;
    }

    /** Versions of workers that runs stay with from now on. */
    public List<Pin> pins() {
        return pins;
    }

    /** Signals to insert, before {@link #takenSignals} are written. */
    public List<NewSignal> newSignals() {
        return newSignals;
    }

    public List<TakenSignal> takenSignals() {
        return takenSignals;
    }

    /** Requests of programs to insert. */
    public List<NewRequest> newRequests() {
        return newRequests;
    }

    /** Requests that have ended, which may have been inserted by the same batch. */
    public List<EndedRequest> endedRequests() {
        return endedRequests;
    }

    public List<StepResult> results() {
        return results;
    }

    public List<Artifact> artifacts() {
        return artifacts;
    }

    /** Artifacts that replace others, the last one of each name. */
    public Collection<Artifact> successors() {
        Map<List<Object>, Artifact> last = new LinkedHashMap<>();
        for (Artifact artifact : artifacts) {
            if (artifact.replaces()) {
                last.put(List.of(artifact.runId(), artifact.attempt(), artifact.stored().name()), artifact);
            }
        }
        return last.values();
    }

    /** Runs with artifacts that ended in this batch; a run that started again within it is no longer terminal. */
    public Set<RunRow> endedWithArtifacts() {
        return endedWithArtifacts;
    }

    public List<Proposal> proposals() {
        return proposals;
    }

    /** Ends of proposals, which may have been made in the same batch. */
    public List<ProposalEnd> proposalEnds() {
        return proposalEnds;
    }

    /** Steps that run under a lease given in this batch, each with its run. */
    public Map<StepRow, RunRow> started() {
        return started;
    }

    /** The chain behind a step that the deciding node executes. Call it before the next batch is decided. */
    public Chain chainOf(StepRow started) {
        Supplier<Chain> chain = chains.get(started);
        return chain == null ? Chain.NONE : chain.get();
    }

    /** Steps that run under a lease of a worker whose claim waited. */
    public Collection<Given> assignments() {
        return given.values();
    }

    /** Lost leases; work under them must be stopped. */
    public Collection<Lost> stopped() {
        return stopped.values();
    }

    public List<Evaluate> evaluations() {
        return evaluations;
    }
}
