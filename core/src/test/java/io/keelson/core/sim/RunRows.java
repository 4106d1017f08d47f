package io.keelson.core.sim;

import io.keelson.core.decide.AgentRow;
import io.keelson.core.decide.ChangeSet.Attempt;
import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.ChangeSet.StepResult;
import io.keelson.core.decide.ChangeSet.Timer;
import io.keelson.core.decide.ChangeSet.TimerKey;
import io.keelson.core.decide.ChangeSet.VoteKey;
import io.keelson.core.decide.ChildRow;
import io.keelson.core.decide.ParentRow;
import io.keelson.core.decide.RunView;
import io.keelson.core.decide.TaskBudgetRow;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.decide.UndoRow;
import io.keelson.core.decide.VoteRow;
import io.keelson.core.lifecycle.StateType;
import io.keelson.core.money.Transfer;
import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.TimerKind;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/** All rows of one run, those of earlier attempts included. A commit edits a copy, which replaces the old one. */
final class RunRows {

    record ResultKey(UUID stepId, int epoch) {}

    record ArtifactKey(int attempt, String name) {}

    final NewRun accepted;
    /** When it was written, by the clock of the node that made it. */
    final Instant created;
    Plan plan;
    Saved.Run run;
    Saved.Head head;
    final Map<UUID, Saved.Agent> agents;
    final Map<UUID, Saved.Task> tasks;
    final Map<UUID, Saved.Step> steps;
    /** Rounds whose rows the database has replaced by one each. Laws look at them as at other ended tasks. */
    final Set<UUID> folded;
    final Map<Lane, Saved.Place> queue;
    final Map<TimerKey, Timer> timers;
    final Map<ResultKey, Saved.Call> calls;
    /** By step. */
    final Map<UUID, Saved.Wait> waits;
    /** Requests of programs to models that have not ended. */
    final Map<UUID, Saved.Asked> requests;
    final Map<UUID, Saved.Ticket> tickets;
    final Map<ArtifactKey, UUID> artifacts;
    /** Null for a run that no step has started. */
    ParentRow parent;
    final Map<UUID, ChildRow> children;
    /** Null while it is not undone. */
    UndoRow undo;
    /** In the order in which they came. */
    final Map<VoteKey, VoteRow> votes;
    /** By the tasks' ids in the plan. */
    final Map<String, TaskBudgetRow> budgets;
    /** In the order in which they came. */
    final Map<UUID, Saved.Sent> signals;
    final Map<UUID, Saved.Proposed> proposals;
    final Map<Integer, Attempt> attempts;
    /** The run's rows of the ledger. */
    final List<Transfer> ledger;

    RunRows(NewRun accepted, Instant created) {
        this.accepted = accepted;
        this.created = created;
        this.agents = new LinkedHashMap<>();
        this.tasks = new LinkedHashMap<>();
        this.steps = new LinkedHashMap<>();
        this.folded = new LinkedHashSet<>();
        this.queue = new LinkedHashMap<>();
        this.timers = new LinkedHashMap<>();
        this.calls = new LinkedHashMap<>();
        this.waits = new LinkedHashMap<>();
        this.requests = new LinkedHashMap<>();
        this.tickets = new LinkedHashMap<>();
        this.plan = accepted.plan();
        this.artifacts = new LinkedHashMap<>();
        this.children = new LinkedHashMap<>();
        this.budgets = new LinkedHashMap<>();
        this.signals = new LinkedHashMap<>();
        this.proposals = new LinkedHashMap<>();
        this.attempts = new LinkedHashMap<>();
        this.ledger = new ArrayList<>();
        this.votes = new LinkedHashMap<>();
    }

    RunRows(RunRows other) {
        this.accepted = other.accepted;
        this.created = other.created;
        this.run = other.run;
        this.head = other.head;
        this.agents = new LinkedHashMap<>(other.agents);
        this.tasks = new LinkedHashMap<>(other.tasks);
        this.steps = new LinkedHashMap<>(other.steps);
        this.folded = new LinkedHashSet<>(other.folded);
        this.queue = new LinkedHashMap<>(other.queue);
        this.timers = new LinkedHashMap<>(other.timers);
        this.calls = new LinkedHashMap<>(other.calls);
        this.waits = new LinkedHashMap<>(other.waits);
        this.requests = new LinkedHashMap<>(other.requests);
        this.tickets = new LinkedHashMap<>(other.tickets);
        this.plan = other.plan;
        this.artifacts = new LinkedHashMap<>(other.artifacts);
        this.parent = other.parent;
        this.undo = other.undo;
        this.children = new LinkedHashMap<>(other.children);
        this.budgets = new LinkedHashMap<>(other.budgets);
        this.signals = new LinkedHashMap<>(other.signals);
        this.proposals = new LinkedHashMap<>(other.proposals);
        this.attempts = new LinkedHashMap<>(other.attempts);
        this.ledger = new ArrayList<>(other.ledger);
        this.votes = new LinkedHashMap<>(other.votes);
    }

    UUID id() {
        return accepted.id();
    }

    /** Those of the run's present, as are the next two: of its current attempt, and not superseded. */
    List<Saved.Agent> agentsNow() {
        return agents.values().stream().filter(a -> a.ofAttempt() == run.attempt()).toList();
    }

    List<Saved.Task> tasksNow() {
        return tasks.values().stream().filter(t -> t.ofAttempt() == run.attempt() && !t.superseded()
                && !folded.contains(t.id())).toList();
    }

    List<Saved.Step> stepsNow() {
        return steps.values().stream().filter(step -> {
            Saved.Task task = tasks.get(step.taskId());
            return step.ofAttempt() == run.attempt() && !task.superseded() && !folded.contains(task.id())
                    && step.taskAttempt() >= task.attempt();
        }).toList();
    }

    List<Saved.Ticket> openTickets() {
        return tickets.values().stream().filter(Saved.Ticket::open).toList();
    }

    StepResult resultOf(UUID step, int epoch) {
        Saved.Call call = calls.get(new ResultKey(step, epoch));
        return call == null ? null : call.result();
    }

    Stream<Saved.Step> stepsOf(UUID taskId) {
        return steps.values().stream().filter(step -> step.taskId().equals(taskId));
    }

    /** All rounds of a task, or the members of all rounds of a group, folded ones included, in their order. */
    Stream<Saved.Task> roundsOf(Saved.Task loop) {
        return tasks.values().stream().filter(task -> loop.id().equals(task.groupId()))
                .sorted(Comparator.comparing(Saved.Task::itemIndex));
    }

    /** The lane of the work queue that a step travels in. */
    Lane laneOf(Saved.Step step) {
        return new Lane(step.taskId(), step.lane());
    }

    /**
     * A view built from nothing but these rows, in the order in which the server's loader builds one.
     *
     * @param now recent calls are those before it
     */
    RunView load(Instant now) {
        boolean begins = switch (run.state()) {
            case CREATED, PENDING, PLANNING, AWAITING_APPROVAL, RETRYING, FAILED -> true;
            case READY, RUNNING, PAUSED, BUDGET_EXCEEDED, ESCALATED, RESUMING, COMPLETED, CANCELLED, SKIPPED -> false;
        };
        boolean again = accepted.policy().failures().run() == FailureMode.RETRY;
        RunView view = new RunView(run.restore(accepted, head), begins || again ? plan : null);
        Map<UUID, AgentRow> agentRows = new HashMap<>();
        agentsNow().stream().sorted(Comparator.comparing(Saved.Agent::number)).forEach(agent -> {
            agentRows.put(agent.id(), agent.restore());
            view.add(agentRows.get(agent.id()));
        });
        Map<UUID, TaskRow> taskRows = loadTasks(view, agentRows);
        stepsNow().stream().sorted(Comparator.comparing(Saved.Step::position).thenComparing(Saved.Step::turn))
                .forEach(step -> view.add(step.restore(taskRows.get(step.taskId()))));
        loadWork(view, now);
        view.restoreSlots();
        return view;
    }

    private Map<UUID, TaskRow> loadTasks(RunView view, Map<UUID, AgentRow> agentRows) {
        boolean again = accepted.policy().failures().agent() == FailureMode.RETRY;
        Map<UUID, TaskRow> taskRows = new HashMap<>();
        List<Saved.Task> inOrder = tasksNow().stream()
                .sorted(Comparator.comparing(Saved.Task::sequence).thenComparing(Saved.Task::itemIndex)).toList();
        for (Saved.Task task : inOrder) {
            List<Dependency> on = upstreamsNow(task).map(up -> new Dependency(up.spec().id(), true)).toList();
            taskRows.put(task.id(), task.restore(agentRows.get(task.agentId()), taskRows.get(task.groupId()), again,
                    on, stepsOf(task.id()).toList()));
            view.add(taskRows.get(task.id()));
        }
        inOrder.forEach(task -> upstreamsNow(task)
                .forEach(up -> view.link(taskRows.get(task.id()), taskRows.get(up.id()))));
        return taskRows;
    }

    private Stream<Saved.Task> upstreamsNow(Saved.Task task) {
        return task.upstreams().stream().map(tasks::get).filter(up -> !up.superseded())
                .sorted(Comparator.comparing(Saved.Task::sequence));
    }

    /**
     * True for a step of an earlier attempt of its task, of a task that a new plan has replaced, or of an earlier round of the
     * other step's task.
     */
    boolean isReplaced(UUID stepId, UUID by) {
        Saved.Step step = steps.get(stepId);
        Saved.Task task = tasks.get(step.taskId());
        Saved.Task other = tasks.get(steps.get(by).taskId());
        return task.groupId() != null && task.groupId().equals(other.groupId())
                && task.itemIndex() != other.itemIndex() && tasks.get(task.groupId()).isLoop() || task.superseded()
                || step.taskAttempt() < task.attempt();
    }

    private void loadWork(RunView view, Instant now) {
        artifacts.forEach((key, step) -> {
            if (key.attempt() == run.attempt()) {
                view.addArtifact(key.name(), step);
            }
        });
        if (parent != null) {
            view.run().restoreParent(parent);
        }
        waits.forEach((step, call) -> view.restoreCall(step, call.restore()));
        children.values().forEach(view::add);
        if (undo != null) {
            view.add(undo);
        }
        budgets.values().forEach(view::add);
        votes.values().forEach(view::add);
        signals.values().forEach(sent -> {
            if (sent.takenBy() == null) {
                view.add(sent.signal());
            } else {
                view.addTakenSignal(sent.signal().id());
            }
        });
        proposals.values().stream().filter(Saved.Proposed::pending)
                .forEach(each -> view.propose(each.row().made().id(), each.row().expiresAt()));
        queue.forEach((lane, place) -> view.restoreLane(lane.taskId(), lane.lane(), place.item().holder(),
                place.item().hold(), place.lease()));
        requests.values().forEach(each -> view.restoreRequest(each.stepId(), each.open()));
        timers.values().forEach(timer -> {
            if (timer.key().kind() == TimerKind.WATCH) {
                view.restoreWatch(timer.dueAt());
            } else if (timer.key().kind() == TimerKind.START) {
                view.restoreStart(timer.dueAt());
            } else if (timer.key().kind() == TimerKind.HUMAN) {
                view.restoreQuestion(timer.key().subject(), timer.question().askedAt());
            } else {
                view.restoreEvaluation(timer.key().kind(), timer.key().subject());
            }
        });
        if (run.state().type() == StateType.PAUSED || Undos.is(this)) {
            openTickets().stream().sorted(Comparator.comparing(Saved.Ticket::openedAt).thenComparing(Saved.Ticket::id))
                    .forEach(ticket -> view.add(ticket.restore()));
        }
        EscalationPolicy escalation = accepted.policy().failures().escalation();
        if (escalation.enabled()) {
            Instant since = now.minus(escalation.window()).truncatedTo(ChronoUnit.SECONDS);
            Optional<Instant> resumedAt = tickets.values().stream().filter(Saved.Ticket::forgives)
                    .map(Saved.Ticket::resolvedAt).max(Comparator.naturalOrder());
            calls.values().stream()
                    .filter(call -> !call.at().isBefore(since) && !call.result().outcome().equals("lost"))
                    .filter(call -> resumedAt.isEmpty() || call.at().isAfter(resumedAt.get()))
                    .sorted(Comparator.comparing(Saved.Call::at)).forEach(call -> view.calls().add(
                            call.at().truncatedTo(ChronoUnit.SECONDS), 1,
                            call.result().outcome().equals("failed") && call.result().system() == null
                                    && !mistake(call.result()) ? 1 : 0,
                            call.result().system() == null ? Set.of() : Set.of(call.result().system())));
        }
    }

    /** An agent's call that can only fail. */
    private boolean mistake(StepResult result) {
        return steps.get(result.stepId()).spec().kind() == StepKind.CALL
                && result.error().errorClass() == ErrorClass.PERMANENT;
    }
}
