package io.keelson.core.decide;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.Lifecycle;
import io.keelson.core.lifecycle.Lifecycles;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.State;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.run.Event;
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

/** What must hold after every commit. */
final class Invariants {

    private Invariants() {}

    static void check(World world) {
        RunView view = world.view;
        counters(view);
        credits(view.run);
        holds(view);
        agents(view);
        if (view.run.state.terminal()) {
            noZombies(world);
        }
        for (StepRow step : view.steps.values()) {
            boolean inQueue = world.queue.containsKey(new ChangeSet.Lane(step.task().id(), step.lane()));
            if (step.queued) {
                assertThat(inQueue).as("queued step %s has its lane in the queue", step.name()).isTrue();
            }
            if (step.isHeld()) {
                assertThat(step.state).isEqualTo(StepState.RUNNING);
                assertThat(world.queue.get(new ChangeSet.Lane(step.task().id(), step.lane())).holder())
                        .isEqualTo(step.holder);
            }
        }
        something(world);
        world.view.tickets.values().forEach(ticket -> assertThat(aboutWhatIsParked(world.view, ticket))
                .as("%s is about what waits for it", ticket.message()).isTrue());
        asked(world).forEach(subject -> assertThat(world.timers).as("people find it by its timer")
                .containsKey(new ChangeSet.TimerKey(TimerKind.HUMAN, subject)));
    }

    /** The agents of a run that has not begun cannot have failed, and a planner's work is no
     * agent's. */
    private static void agents(RunView view) {
        String all = view.run.errorCode + ", " + view.run.gate + ", " + view.agents().stream()
                .map(agent -> agent.name() + " " + agent.state + " " + agent.tasksOpen + "/" + agent.tasks).toList();
        boolean replans = view.run.gate == RunRow.Gate.REPLANNING || view.run.gate == RunRow.Gate.REPLAN_APPROVED;
        if (view.run.state == RunState.RUNNING && !replans
                && !view.agents().stream().allMatch(AgentRow::system)) {
            assertThat(view.agents()).as("a running run has an agent at work: %s", all)
                    .anyMatch(agent -> agent.state == AgentState.PENDING || agent.state == AgentState.RUNNING);
        } else if (view.run.state == RunState.FAILED && view.agents().stream()
                .anyMatch(agent -> !agent.system() && agent.startedAt != null)) {
            assertThat(view.agents()).as("a failed run has a failed agent: %s", all)
                    .anyMatch(agent -> agent.state == AgentState.FAILED);
        }
    }

    private static boolean aboutWhatIsParked(RunView view, TicketRow ticket) {
        StepRow step = ticket.stepId() == null ? null : view.steps.get(ticket.stepId());
        TaskRow task = ticket.taskId() == null ? null : view.tasks.get(ticket.taskId());
        return ticket.kind() == TicketRow.Kind.REPLAN_APPROVAL
                || (ticket.stepId() == null ? task != null && task.parked() : step != null && step.parked());
    }

    /** What waits for a person. */
    private static List<UUID> asked(World world) {
        RunView view = world.view;
        List<UUID> asked = new ArrayList<>(view.tickets.keySet());
        if (view.run.state == RunState.AWAITING_APPROVAL
                || view.run.state == RunState.RUNNING && view.run.gate == RunRow.Gate.ACCEPTANCE) {
            asked.add(view.run.id());
        }
        view.steps.values().stream().filter(step -> step.state == StepState.WAITING_APPROVAL)
                .forEach(step -> asked.add(step.id()));
        view.tasks().stream().filter(task -> task.state == TaskState.AWAITING_HUMAN)
                .forEach(task -> asked.add(task.id()));
        return asked;
    }

    private static void credits(RunRow run) {
        BigDecimal limit = run.hardLimit != null ? run.hardLimit : run.policy().budget().hardLimit();
        assertThat(run.charged).isBetween(BigDecimal.ZERO, run.reserved);
        assertThat(run.remainder.abs()).as("what rounding leaves").isLessThanOrEqualTo(new BigDecimal("0.0000005"));
        assertThat(limit == null ? run.reserved : limit.subtract(run.chargedBefore)).as("within the limit")
                .isGreaterThanOrEqualTo(run.reserved);
        assertThat(run.state.terminal() && run.reserved.signum() > 0).as("an ended run has reserved credits")
                .isFalse();
    }

    /** Only leases, requests of programs, and answers that are to be fetched, have holds, and charges and holds together fit the reservation, the limit and the children's allotments. */
    private static void holds(RunView view) {
        RunRow run = view.run;
        BigDecimal limit = run.hardLimit != null ? run.hardLimit : run.policy().budget().hardLimit();
        BigDecimal held = view.steps.values().stream().filter(step -> step.hold != null)
                .peek(step -> assertThat(step.isHeld()).as("%s holds credits without a lease", step.name()).isTrue())
                .map(step -> Objects.requireNonNull(step.hold).amount()).reduce(BigDecimal.ZERO, BigDecimal::add);
        held = view.steps.values().stream().map(StepRow::kept).filter(Objects::nonNull).map(Hold::amount)
                .reduce(held, BigDecimal::add);
        held = view.steps.values().stream().flatMap(step -> step.requests().stream()).map(OpenRequest::held)
                .reduce(held, BigDecimal::add);
        assertThat(view.steps.values()).as("an ended step has open requests")
                .noneMatch(step -> step.state.terminal() && !step.requests().isEmpty());
        assertThat(view.held).isEqualByComparingTo(held);
        assertThat(run.state.terminal() ? held : Credits.usedCredits(run).add(held)).as("charged and held")
                .isLessThanOrEqualTo(run.reserved);
        assertThat(limit == null || held.signum() == 0 ? BigDecimal.ZERO
                : run.chargedBefore.add(Credits.usedCredits(run)).add(held).add(HardLimit.childrenTake(view)))
                .as("charged, held and allotted").isLessThanOrEqualTo(limit == null ? BigDecimal.ZERO : limit);
    }

    private static void counters(RunView view) {
        List<TaskRow> counted = view.tasks().stream().filter(task -> !task.system()).toList();
        long completed = counted.stream().filter(t -> t.state == TaskState.COMPLETED).count();
        long failed = counted.stream().filter(t -> t.state == TaskState.FAILED).count();
        long open = view.tasks().stream().filter(t -> !t.terminal()).count();
        assertThat(view.run.tasksCompleted).isEqualTo((int) completed);
        assertThat(view.run.tasksFailed).isEqualTo((int) failed);
        assertThat(view.run.taskCount).isEqualTo(counted.size());
        assertThat(view.run.stepCount).isEqualTo(view.steps.size());
        assertThat(view.run.stepsCompleted).isEqualTo(
                (int) view.steps.values().stream().filter(s -> s.state == StepState.COMPLETED).count());
        assertThat(view.tasksOpen).isEqualTo((int) open);
        assertThat(view.tasks()).noneMatch(TaskRow::superseded);
        if (view.run.state.terminal()) {
            return;
        }
        for (TaskRow task : view.tasks()) {
            assertThat(task.upstreamsOpen)
                    .isEqualTo((int) task.upstreams.stream().filter(up -> !up.terminal()).count());
        }
        for (AgentRow agent : view.agents()) {
            assertThat(agent.slotsTaken).isEqualTo(
                    (int) view.tasks().stream().filter(t -> t.agent() == agent && t.hasSlot && !t.terminal()).count());
        }
        assertThat(view.tasksBegun).isEqualTo((int) view.tasks().stream().filter(RunView::hasBegun).count());
        assertThat(view.run.currentTask()).isEqualTo(view.tasks().stream()
                .filter(t -> !t.isGroup() && !t.system() && Set.of(TaskState.RUNNING, TaskState.CONTINUING,
                        TaskState.VERIFYING, TaskState.AWAITING_HUMAN).contains(t.state))
                .min(TaskRow.BY_PLAN).map(TaskRow::key).orElse(null));
        assertThat(view.tasksWaiting).as("at human: %s", view.tasks.values().stream().map(TaskRow::key).toList())
                .isEqualTo((int) view.tasks().stream().filter(t -> t.waits).count());
        for (TaskRow task : view.run.state == RunState.RUNNING ? List.copyOf(view.tasks()) : List.<TaskRow>of()) {
            boolean before = task.waits;
            view.lookAtWaits(task);
            assertThat(task.waits).as("whether %s, %s, waits for a person only: %s", task.key(), task.state, task.steps
                    .stream().map(s -> s.state + (s.queued ? "q" : "") + (s.evaluating ? "e" : "")).toList())
                    .isEqualTo(before);
        }
        assertThat(view.agentsAtWork).isEqualTo((int) view.agents().stream().filter(a -> view.tasks().stream()
                .anyMatch(t -> t.agent() == a && t.hasSlot && !t.terminal())).count());
        assertThat(view.agentsAtWork).isLessThanOrEqualTo(view.run.policy().maxAgents());
    }

    private static void noZombies(World world) {
        assertThat(world.queue).isEmpty();
        assertThat(world.timers.keySet()).as("it may look at what it has started")
                .allMatch(key -> key.kind() == TimerKind.EVALUATE_CHILD || key.kind() == TimerKind.EVALUATE_UNDO
                        || key.kind() == TimerKind.EVALUATE_CHILD_UNDO);
        assertThat(world.view.tasks()).allMatch(TaskRow::terminal);
        assertThat(world.view.steps.values()).allMatch(step -> step.state.terminal());
        assertThat(world.view.agents()).allMatch(agent -> agent.state().terminal());
        assertThat(world.view.run.completedAt).isNotNull();
    }

    /** A running run has something that can move it. */
    private static void something(World world) {
        if (world.view.run.state == RunState.RUNNING) {
            boolean signal = world.view.steps.values().stream().anyMatch(step -> step.signalWait != null);
            boolean timer = world.timers.keySet().stream().anyMatch(key -> key.kind() != TimerKind.WATCH);
            boolean child = ChildLinks.open(world.view);
            boolean answer = world.view.steps.values().stream().anyMatch(step -> !step.requests().isEmpty());
            assertThat(!world.queue.isEmpty() || timer || signal || child || answer)
                    .as("the run can move: gate %s, failing %s, open %s, %s, %s", world.view.run.gate,
                            world.view.run.failing, world.view.tasksOpen,
                            world.view.agents().stream()
                                    .map(a -> a.name() + " " + a.state + " " + a.tasksOpen
                                            + a.ready.stream().map(TaskRow::key).toList() + a.slotsTaken)
                                    .toList(),
                            world.view.tasks().stream()
                                    .map(t -> t.key() + " " + t.state + " " + t.upstreamsOpen + t.evaluating
                                            + t.agent().name()
                                            + t.steps.stream().map(s -> s.state + "" + s.queued).toList())
                                    .toList())
                    .isTrue();
            assertThat(world.view.tickets.isEmpty() || world.view.run.policy().undo().undoes() != null).isTrue();
        }
        if (world.view.run.state == RunState.ESCALATED) {
            assertThat(world.view.tickets).isNotEmpty();
        }
    }

    /** Every event tells of an edge of its lifecycle, and starts where the entity's last one ended. */
    static void legal(World world) {
        for (Event event : world.events) {
            if (event.to() != null) {
                Lifecycle<?> lifecycle = event.stepId() != null ? Lifecycles.STEP
                        : event.taskId() != null ? Lifecycles.TASK
                                : event.agentId() != null ? Lifecycles.AGENT : Lifecycles.RUN;
                assertThat(lifecycle.edges()).anyMatch(edge -> wire(edge.from()).equals(event.from())
                        && wire(edge.to()).equals(event.to()) && edge.event() == event.type());
                Object entity = Arrays.asList(event.attempt(), event.agentId(), event.taskId(), event.stepId());
                world.events.stream().filter(e -> e.to() != null && e.seq() < event.seq())
                        .filter(e -> event.taskId() == null && event.agentId() == null
                                ? e.taskId() == null && e.agentId() == null
                                : Arrays.asList(e.attempt(), e.agentId(), e.taskId(), e.stepId()).equals(entity))
                        .reduce((a, b) -> b)
                        .ifPresent(last -> assertThat(event.from()).isEqualTo(Objects.requireNonNull(last.to())));
            }
        }
    }

    private static String wire(Enum<?> state) {
        return ((State) state).wire();
    }
}
