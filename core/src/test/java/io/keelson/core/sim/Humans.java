package io.keelson.core.sim;

import io.keelson.core.decide.ChangeSet.TimerKey;
import io.keelson.core.decide.ChildRow;
import io.keelson.core.decide.ParentRow;
import io.keelson.core.decide.RunRow.Gate;
import io.keelson.core.decide.TaskBudgetRow;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.run.Actor;
import io.keelson.core.run.CallWait;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.DecideGate;
import io.keelson.core.run.Command.DecideTask.Choice;
import io.keelson.core.run.Command.Resolution;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/** People and their programs: submit runs, decide at gates, and meddle. In calm weather they only help. */
final class Humans {
    private static final Actor ANN = Actor.human("ann");
    private static final Actor BOB = Actor.human("bob");
    private static final Duration RETRY_DELAY = Duration.ofSeconds(5);
    private static final int TRIES = 6;

    private final Simulation sim;
    private final List<NewRun> runs;
    private final Duration within;
    /** Some leave their runs in peace most of the time. */
    private final int restlessness;

    /** @param within by then all of the runs are submitted */
    Humans(Simulation sim, List<NewRun> runs, Duration within) {
        this.sim = sim;
        this.runs = runs;
        this.within = within;
        this.restlessness = 5 + sim.random.nextInt(60);
    }

    void start() {
        runs.forEach(run -> sim.in(sim.between(0, (int) within.toMillis()), () -> ask(
                new Command.Create(run, sim.chance(80), ANN), 1_000)));
        sim.in(sim.between(500, 3_000), this::look);
    }

    private void look() {
        for (RunRows rows : new ArrayList<>(sim.store.runs())) {
            help(rows);
            propose(rows);
            undo(rows);
            if (!sim.faultRates.calm() && sim.chance(restlessness)) {
                meddle(rows);
            }
        }
        sim.in(sim.between(1_000, 6_000), this::look);
    }

    private void help(RunRows rows) {
        UUID run = rows.id();
        if (!sim.faultRates.calm() && sim.chance(60)) {
            return;
        }
        switch (rows.run.state()) {
            case CREATED -> {
                if (!rows.timers.containsKey(new TimerKey(TimerKind.START, run)) || sim.chance(20)) {
                    ask(orCancel(rows, new Command.Start(run, ANN)), 1);
                }
            }
            case AWAITING_APPROVAL -> ask(orCancel(rows, sim.faultRates.calm() || sim.chance(80)
                    ? new Command.Approve(run, "fine", ANN)
                    : new DecideGate(run, DecideGate.Gate.PLAN, false, null, Map.of(), null, ANN)), TRIES);
            case PAUSED -> ask(orCancel(rows, new Command.Resume(run, ANN)), TRIES);
            case ESCALATED -> rows.openTickets().forEach(ticket -> ask(new Command.Resolve(run, ticket.id(),
                    !sim.faultRates.calm() ? answer(rows)
                            : Undos.ofChild(rows, ticket) ? Resolution.DONE : Resolution.RESUME,
                    null, ANN), TRIES));
            case BUDGET_EXCEEDED -> ask(overBudget(rows), TRIES);
            case RUNNING -> decide(rows);
            case RETRYING -> {
                if (!sim.faultRates.calm()) {
                    ask(sim.chance(50) ? new Command.FailRun(run, "enough", ANN)
                            : new Command.Cancel(run, "enough", ANN), 2);
                }
            }
            case PENDING, READY, PLANNING -> {
                if (!sim.faultRates.calm() && sim.chance(20)) {
                    ask(sim.chance(50) ? new Command.FailRun(run, "too slow", ANN)
                            : new Command.Cancel(run, "too slow", ANN), 2);
                }
            }
            case RESUMING, COMPLETED, FAILED, CANCELLED,
                    SKIPPED ->
                {
                }
        }
    }

    /** The first four of all answers for a run that undoes nothing, so that the other choices stay as they were. */
    private Resolution answer(RunRows rows) {
        return Resolution.values()[sim.random.nextInt(Undos.is(rows) ? 5 : 4)];
    }

    /** Requests the undo of some ended runs, and answers the tickets of undos that continue. */
    private void undo(RunRows rows) {
        if (!RandomPlans.undoes(sim.seed) || sim.faultRates.calm()) {
            return;
        }
        if (sim.chance(rows.run.state().terminal() ? 8 : 1)) {
            ask(new Command.Undo(rows.id(), null, ANN), 2);
        }
        if (Undos.is(rows) && rows.run.state() == RunState.RUNNING && sim.chance(30)) {
            rows.openTickets().forEach(
                    ticket -> ask(new Command.Resolve(rows.id(), ticket.id(), answer(rows), null, ANN), TRIES));
        }
    }

    /** Decides proposals in every state of the run. */
    private void propose(RunRows rows) {
        rows.proposals.values().stream().filter(each -> each.pending() && sim.chance(30)).forEach(each -> ask(
                new Command.DecideProposal(rows.id(), each.row().made().id(), sim.chance(60), null,
                        sim.chance(20) ? "more" : null, ANN),
                TRIES));
    }

    private Command overBudget(RunRows rows) {
        if (sim.faultRates.calm() && rows.parent != null && rows.parent.allotment() != null) {
            return new Command.FailRun(rows.id(), "its parent allows no more", ANN);
        }
        if (sim.faultRates.calm()) {
            Map<String, BigDecimal> tasks = exceeded(rows, budget -> BigDecimal.valueOf(1_000));
            return !tasks.isEmpty() ? new Command.RaiseBudget(rows.id(), null, null, tasks, ANN)
                    : unlimited(rows) ? new Command.Resume(rows.id(), ANN)
                            : new Command.RaiseBudget(rows.id(), BigDecimal.valueOf(1_000), null, Map.of(), ANN);
        }
        if (rows.parent != null && rows.parent.allotment() != null && sim.chance(60)) {
            return share(rows, rows.parent);
        }
        return switch (sim.random.nextInt(6)) {
            case 0 -> new DecideGate(rows.id(), DecideGate.Gate.BUDGET, false, null, Map.of(), "too dear", ANN);
            case 1 -> new Command.Cancel(rows.id(), "too dear", ANN);
            case 2 -> rows.head.seq() % 3 == 0 ? goesOn(rows, new DecideGate.Way(null, true))
                    : rows.head.seq() % 3 == 1 ? goesOn(rows, new DecideGate.Way("small", false))
                            : new Command.Resume(rows.id(), ANN);
            default -> raise(rows);
        };
    }

    private static Command goesOn(RunRows rows, DecideGate.Way way) {
        return new DecideGate(rows.id(), DecideGate.Gate.BUDGET, true, null, Map.of(), way, null, null, ANN);
    }

    private static boolean unlimited(RunRows rows) {
        return rows.run.hardLimit() == null && rows.accepted.policy().budget().hardLimit() == null;
    }

    /** More of the parent's limit is asked for, or what the parent has written down is passed on. */
    private Command share(RunRows rows, ParentRow parent) {
        ChildRow known = sim.store.run(parent.runId()).children.get(parent.stepId());
        return sim.chance(50)
                ? new Command.AddChildBudget(parent.runId(), rows.id(),
                        known.allotment().add(sim.amount(1 + sim.random.nextInt(60), 2)), ANN)
                : new Command.ChildBudgetAdded(rows.id(), known.allotment(), ANN);
    }

    private Command raise(RunRows rows) {
        Map<String, BigDecimal> tasks = exceeded(rows,
                budget -> budget.limit().add(sim.amount(sim.random.nextInt(60), 2)));
        if (!tasks.isEmpty() && sim.chance(80)) {
            return new Command.RaiseBudget(rows.id(), null, null, tasks, ANN);
        }
        return new Command.RaiseBudget(rows.id(), sim.amount(1 + sim.random.nextInt(120), 2),
                sim.chance(30) ? sim.amount(sim.random.nextInt(50), 2) : null, Map.of(), ANN);
    }

    /** New budgets for the tasks whose budgets have stopped the run. */
    private static Map<String, BigDecimal> exceeded(RunRows rows, Function<TaskBudgetRow, BigDecimal> raised) {
        return rows.budgets.values().stream().filter(TaskBudgetRow::exceeded)
                .collect(Collectors.toMap(TaskBudgetRow::task, raised));
    }

    private void decide(RunRows rows) {
        boolean calm = sim.faultRates.calm();
        UUID run = rows.id();
        if (rows.run.gate() == Gate.ACCEPTANCE) {
            ask(calm || sim.chance(80) ? new Command.Approve(run, "good", ANN) : new Command.Reject(run, "bad", ANN),
                    TRIES);
        }
        rows.stepsNow().stream().filter(step -> step.state() == StepState.WAITING_APPROVAL).forEach(step -> ask(
                new Command.DecideStep(run, step.id(), calm || sim.chance(85), null,
                        step.spec().tool().equals(AgentTerms.ASK) ? "1" : null, ANN),
                TRIES));
        rows.stepsNow().stream().filter(step -> step.signalWait() != null && (calm || sim.chance(40)))
                .forEach(step -> ask(new Command.SendSignal(run, sim.nextId(), step.signalWait().signal(),
                        "1", new Command.SendSignal.Awaiting(Set.of(step.id()), Set.of()), ANN), TRIES));
        rows.waits.forEach((step, call) -> {
            int round = call.now().rounds();
            if (call.now().state() == CallWait.State.ASKED && (calm || sim.chance(50))) {
                ask(answer(run, step, round), TRIES);
                if (!calm && sim.chance(30)) {
                    ask(answer(run, step, Math.max(1, round - sim.random.nextInt(2))), 1);
                }
            }
        });
        rows.tasksNow().stream().filter(task -> task.state() == TaskState.AWAITING_HUMAN).forEach(task -> ask(
                new Command.DecideTask(run, task.id(), calm ? Choice.APPROVE : any(Choice.values()), task.attempt(),
                        null, ANN),
                TRIES));
    }

    private static Command answer(UUID run, UUID step, int round) {
        return new Command.Answer(run, step, round, CallServer.answers(round), ANN);
    }

    private Command signal(UUID run, String name) {
        return new Command.SendSignal(run, sim.nextId(), name, "1", null, ANN);
    }

    private <T> T any(T[] all) {
        return all[sim.random.nextInt(all.length)];
    }

    /** Some think better of it. */
    private Command orCancel(RunRows rows, Command command) {
        return !sim.faultRates.calm() && sim.chance(15) ? new Command.Cancel(rows.id(), "no more", ANN) : command;
    }

    private void meddle(RunRows rows) {
        UUID run = rows.id();
        switch (sim.random.nextInt(23)) {
            case 21, 22 -> ask(signal(run, "signal" + sim.random.nextInt(2)), 2);
            case 20 -> ask(raise(rows), 1);
            case 0, 1, 2, 3 -> ask(new Command.Pause(run, null, ANN), 2);
            case 4, 5 -> ask(new Command.Resume(run, ANN), 2);
            case 6, 7, 8, 9 -> ask(new Command.Retry(run, sim.chance(40), ANN), 2);
            case 10 -> ask(new Command.Approve(run, null, ANN), 1);
            case 11 ->
                ask(sim.chance(20) ? new Command.Reject(run, "no", ANN) : new Command.Approve(run, null, ANN), 1);
            case 12 -> ask(sim.chance(35) ? new Command.Cancel(run, null, ANN) : new Command.Start(run, ANN), TRIES);
            case 13, 14 -> rows.stepsNow().stream().skip(sim.random.nextInt(5)).findFirst().ifPresent(
                    step -> ask(new Command.DecideStep(run, step.id(), sim.chance(80), null, ANN), 2));
            case 15 -> ask(new Command.Start(run, ANN), 1);
            default -> rows.tasksNow().stream().skip(sim.random.nextInt(6)).findFirst()
                    .ifPresent(task -> ask(intervention(run, task.id()), 2));
        }
    }

    private Command intervention(UUID run, UUID task) {
        return switch (sim.random.nextInt(12)) {
            case 0, 1 -> new Command.CancelTask(run, task, null, ANN);
            case 2, 3 -> new Command.SkipTask(run, task, null, ANN);
            case 4 -> new Command.CancelAgent(run, 1 + sim.random.nextInt(3), null, ANN);
            case 5, 6 -> new Command.Replan(run, null, ANN);
            case 7 -> new Command.FailRun(run, null, ANN);
            default -> new Command.RetryTask(run, task, ANN);
        };
    }

    /** Sends the command, and repeats it until a node replies. */
    private void ask(Command command, int tries) {
        Command other = RandomPlans.votes(sim.seed) ? byBob(command) : null;
        if (other == null) {
            send(command, tries);
            return;
        }
        boolean calm = sim.faultRates.calm();
        send(new Command.Vote(command, "d", true), tries);
        send(new Command.Vote(other, calm || sim.chance(90) ? "d" : "other", true), tries);
        if (!calm && sim.chance(20)) {
            send(new Command.WithdrawVote(command.runId(), command.runId(), sim.chance(50) ? ANN : BOB), 2);
        }
    }

    /** The second approval of a question, by another person; null unless the command approves. */
    private static Command byBob(Command command) {
        return command instanceof Command.Approve c ? new Command.Approve(c.runId(), c.comment(), c.edit(), BOB)
                : command instanceof DecideGate c && c.approve()
                        ? new DecideGate(c.runId(), c.gate(), true, c.hardLimit(), c.tasks(), c.way(), c.asked(),
                                c.comment(), BOB)
                        : command instanceof Command.DecideStep c && c.approve()
                                ? new Command.DecideStep(c.runId(), c.stepId(), true, c.comment(), c.given(), BOB)
                                : command instanceof Command.DecideTask c
                                        ? new Command.DecideTask(c.runId(), c.taskId(), c.choice(), c.gate(),
                                                c.comment(), BOB)
                                        : command instanceof Command.DecideProposal c && c.accept()
                                                ? new Command.DecideProposal(c.runId(), c.proposalId(), true,
                                                        c.comment(), c.instructions(), BOB)
                                                : command instanceof Command.Resolve c
                                                        ? new Command.Resolve(c.runId(), c.ticketId(), c.resolution(),
                                                                c.comment(), c.alike(), BOB)
                                                        : command instanceof Command.RaiseBudget c
                                                                ? new Command.RaiseBudget(c.runId(), c.hardLimit(),
                                                                        c.softLimit(), c.tasks(), BOB)
                                                                : null;
    }

    private void send(Command command, int tries) {
        boolean[] answered = new boolean[1];
        sim.send(sim.anyNode(), command, reply -> answered[0] = true);
        sim.in(RETRY_DELAY, () -> {
            if (!answered[0] && tries > 1) {
                send(command, tries - 1);
            }
        });
    }
}
