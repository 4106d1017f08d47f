package io.keelson.core.sim;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.WorstCase;
import io.keelson.core.plan.StepKind;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.EndRequest.Outcome;
import io.keelson.core.run.NextStepRequest;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepAssignment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * A worker outside: claims over the network, keeps its leases by heartbeats, reports until it is answered. Crashes forget
 * everything; the worker that follows has the same name. Pauses outlive leases.
 */
final class RemoteWorker {
    private static final Set<String> TOOLS = Set.of("remote", "agent.turn", RandomPlans.JUDGE);
    private static final int CAPACITY = 3;
    private static final Duration RETRY_DELAY = Duration.ofSeconds(4);
    private static final int TRIES = 12;
    /** Of sixteen stories, the one whose workers execute steps one after another before they report. */
    private static final int CHAINED = 14;
    /** Of sixteen stories, the one whose workers start programs that request models. */
    private static final int PROGRAMS = 6;
    /** Of 32 stories, the one whose workers start programs that call tools. */
    private static final int CALLING = 26;
    private static final String DIGEST = "0".repeat(64);

    private final Simulation sim;
    private final String name;
    private final Map<UUID, Held> held = new HashMap<>();
    private final Map<Held, Result> used = new HashMap<>();
    private int life;
    private long requests;

    RemoteWorker(Simulation sim, String name) {
        this.sim = sim;
        this.name = name;
    }

    void start() {
        sim.in(sim.between(0, 1_000), this::look);
        sim.in(sim.between(5_000, 10_000), this::beat);
        sim.in(sim.between(2_000, 60_000), this::crash);
    }

    private void crash() {
        if (!sim.faultRates.calm()) {
            sim.tell(name, "crashes with", held.size());
            life++;
            held.clear();
            sim.in(sim.between(5_000, 120_000), this::crash);
        }
    }

    private void look() {
        int free = CAPACITY - held.size();
        if (free > 0) {
            Node node = sim.anyNode();
            int born = life;
            sim.carry(met -> node.later(Duration.ZERO, () -> node.claimFor(name, TOOLS, free, chained(),
                    leases -> sim.carry(back -> {
                        if (born == life) {
                            leases.forEach(chain -> work(chain.getFirst(), chain));
                        }
                    }))));
        }
        sim.in(sim.between(300, 1_500), this::look);
    }

    private Set<String> chained() {
        return sim.seed % 16 == CHAINED ? TOOLS : Set.of();
    }

    private void work(Held lease, List<Held> chain) {
        held.put(lease.stepId(), lease);
        int born = life;
        Duration standsStill = !sim.faultRates.calm() && sim.chance(4) ? sim.between(10_000, 90_000) : Duration.ZERO;
        sim.in(Tools.time(sim).plus(standsStill), () -> {
            if (born == life) {
                NextStepRequest request =
                        sim.chance(50) ? new NextStepRequest(name, TOOLS, Simulation.LEASE, chained(), "unversioned")
                                : null;
                report(chain.size() > 1 ? chain(chain, request)
                        : Tools.report(sim, lease, request, Actor.agent(name)), lease, born, TRIES);
            }
        });
    }

    /** The reports of the first steps of a chain, up to the first step without completion. */
    private Command chain(List<Held> chain, NextStepRequest request) {
        List<Command.Report> reports = new ArrayList<>();
        for (Held each : chain) {
            boolean last = each == chain.getLast() || sim.chance(20);
            Command report = Tools.report(sim, each, request, Actor.agent(name));
            if (report instanceof Command.Report one) {
                reports.add(one);
            } else if (reports.isEmpty()) {
                return report;
            }
            if (last || !(report instanceof Command.Complete)) {
                break;
            }
        }
        return new Command.CompleteChain(reports.getFirst().runId(), reports, false, Actor.agent(name));
    }

    /** Repeats the same report until a node replies, even if the lease has ended. */
    private void report(Command report, Held lease, int born, int tries) {
        if (tries == 0 || born != life) {
            held.remove(lease.stepId(), lease);
            return;
        }
        boolean[] answered = new boolean[1];
        sim.send(sim.anyNode(), report, reply -> {
            answered[0] = true;
            held.remove(lease.stepId(), lease);
            if (born == life) {
                continueWith(sim.store.run(lease.runId()), reply);
            }
        });
        sim.in(RETRY_DELAY, () -> {
            if (!answered[0]) {
                report(report, lease, born, tries - 1);
            }
        });
    }

    /** The answer to a result may bear the next step of the task, and so may the answer to its repetition. */
    private void continueWith(RunRows rows, Reply all) {
        Reply reply =
                all instanceof Reply.Taken(List<Reply> replies, _) && !replies.isEmpty() ? replies.getLast() : all;
        Held next = reply instanceof Reply.Claimed(StepAssignment assignment) ? Held.of(rows, assignment)
                : reply instanceof Reply.Duplicate(UUID step, String output) && step != null
                        ? Held.read(rows, step, name)
                        : null;
        if (next != null && !next.equals(held.get(next.stepId()))) {
            work(next, reply instanceof Reply.Claimed(StepAssignment given) ? Held.chain(rows, given) : List.of(next));
        }
    }

    /** Says what it has used so far, in each fourth story; the report at the end may say less. */
    private void meter(Held lease) {
        Result more = Tools.use(sim);
        Result all = used.merge(lease, more, (before, now) -> Result.spent(before.tokens().plus(now.tokens()),
                before.cost() == null || now.cost() == null ? null : before.cost().add(now.cost()), "model"));
        sim.send(sim.anyNode(), new Command.Meter(lease.runId(), lease.stepId(), lease.epoch(), all,
                Actor.agent(name)), reply -> {});
    }

    /** A program of the step requests a model; its answer may come after the end of the lease, or never. */
    private void request(Held lease) {
        UUID id = new UUID(lease.stepId().getMostSignificantBits() + ++requests,
                lease.stepId().getLeastSignificantBits());
        Actor actor = Actor.agent(name);
        sim.send(sim.anyNode(), new Command.AskModel(lease.runId(), lease.stepId(), lease.epoch(), id,
                new WorstCase("model", 100, 100, true), 1, DIGEST, DIGEST, "{}", requests % 2 == 0, actor), reply -> {
                    if (reply instanceof Reply.Paid paid && paid.refusal() == null
                            && !sim.chance(10)) {
                        Outcome outcome = Outcome.values()[(int) (requests % Outcome.values().length)];
                        sim.in(sim.between(0, 20_000), () -> sim.send(sim.anyNode(), new Command.EndRequest(
                                lease.runId(),
                                lease.stepId(), id, outcome,
                                outcome == Outcome.ANSWERED ? Result.spent(new Tokens(50, 0, 0, 50, 0), null, "model")
                                        : null,
                                outcome == Outcome.ANSWERED ? "{}" : null, actor), end -> {}));
                    }
                });
    }

    /** A program of the step calls a tool. A call may be sent again, and may come late. */
    private void call(Held lease) {
        Command call = new Command.CallTool(lease.runId(), lease.stepId(), lease.epoch(), sim.nextId(), Tools.call(sim),
                Actor.agent(name));
        sim.send(sim.anyNode(), call, reply -> {});
        if (sim.chance(60)) {
            sim.in(sim.between(0, 20_000), () -> sim.send(sim.anyNode(),
                    new Command.Park(lease.runId(), lease.stepId(), lease.epoch(), Actor.agent(name)), reply -> {}));
        }
        if (sim.chance(20)) {
            sim.in(sim.between(0, 20_000), () -> sim.send(sim.anyNode(), call, reply -> {}));
        }
    }

    private void beat() {
        used.keySet().retainAll(held.values());
        for (Held lease : List.copyOf(held.values())) {
            sim.carry(met -> {
                RunRows rows = sim.store.run(lease.runId());
                Saved.Step step = rows.steps.get(lease.stepId());
                Held now = Held.read(rows, lease.stepId(), name);
                if (step.state() == StepState.RUNNING && lease.equals(now)) {
                    sim.extend(lease.runId(), lease.lane());
                    if (sim.seed % 16 == PROGRAMS) {
                        request(lease);
                    } else if (sim.seed % 32 == CALLING && step.spec().kind() == StepKind.TOOL) {
                        call(lease);
                    } else if (sim.seed % 4 == 2 && sim.chance(40)) {
                        meter(lease);
                    }
                } else {
                    sim.carry(back -> held.remove(lease.stepId(), lease));
                }
            });
        }
        sim.in(sim.between(8_000, 12_000), this::beat);
    }
}
