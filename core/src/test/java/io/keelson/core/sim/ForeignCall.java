package io.keelson.core.sim;

import static io.keelson.core.sim.Violation.unless;

import io.keelson.core.money.Tokens;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.CallWait;
import io.keelson.core.run.CallWait.State;
import io.keelson.core.run.Command;
import io.keelson.core.run.Deferral;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * One execution of a step that calls another server. The store has the results of earlier executions, as the real server's database
 * has: a crash loses nothing.
 */
final class ForeignCall {
    private static final String SYSTEM = "other";
    /** Questions of one call at most. */
    private static final int ROUNDS = 2;
    /** So long a question may wait for its answer. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    /** Some look at their question again before that. */
    private static final Duration LOOK = Duration.ofSeconds(8);
    /** Without a reply to its report for so long, an execution does not know whether it may send the call. */
    private static final Duration REPLY = Duration.ofSeconds(20);

    private final Node node;
    private final Held lease;
    private final Actor who;
    private final CallServer server;
    private final CallWait before;
    /** Whether the execution continues, and its end: false when it has ended already. */
    private final BooleanSupplier continues;
    private final BooleanSupplier end;
    private boolean replied;

    ForeignCall(Node node, Held lease, BooleanSupplier continues, BooleanSupplier end) {
        this.node = node;
        this.lease = lease;
        this.continues = continues;
        this.end = end;
        this.who = Actor.agent(node.name());
        this.server = node.sim.store.server;
        Saved.Wait stored = node.sim.store.run(lease.runId()).waits.get(lease.stepId());
        this.before = stored == null ? null : stored.now();
    }

    void execute() {
        State state = before == null ? null : before.state();
        boolean once = CallServer.once(lease);
        if (!continues.getAsBoolean()) {
            return;
        }
        if (state == State.ASKED) {
            node.later(Tools.time(node.sim), () -> report(asks(before)));
        } else if (once && state != State.TASK) {
            track(wait(State.SENT, rounds()), this::send);
            node.later(REPLY, () -> {
                if (!replied) {
                    report(unknown());
                }
            });
        } else {
            answer();
        }
    }

    private int rounds() {
        return before == null ? 0 : before.rounds();
    }

    private void track(CallWait now, Runnable then) {
        node.own(new Command.TrackCall(lease.runId(), lease.stepId(), lease.epoch(), now, who), reply -> {
            if (!replied && reply instanceof Reply.Done) {
                replied = true;
                then.run();
            } else if (!replied && reply instanceof Reply.Rejected refused
                    && refused.code().equals("OUTCOME_UNKNOWN")) {
                replied = true;
                report(unknown());
            }
        });
    }

    private void send() {
        if (continues.getAsBoolean()) {
            server.receive(lease.stepId(), rounds());
            node.later(Tools.time(node.sim), this::answer);
        }
    }

    /** The other server answers. */
    private void answer() {
        Simulation sim = node.sim;
        int dice = sim.random.nextInt(100);
        unless(before == null || before.state() != State.ANSWERED || before.answers() != null, "no answers: %s",
                before);
        if (dice < (sim.faultRates.calm() ? 10 : 50) && rounds() < ROUNDS) {
            report(asks(wait(State.ASKED, rounds() + 1)));
        } else if (dice < 60 && CallServer.once(lease) && (before == null || before.state() != State.TASK)) {
            refused();
        } else if (dice < 75) {
            report(new Command.Release(lease.runId(), lease.stepId(), lease.epoch(),
                    new Deferral(Duration.ofSeconds(4), SYSTEM, error("MCP_TIMEOUT"), PATIENCE),
                    wait(State.TASK, rounds()), List.of(), who));
        } else {
            report(Tools.report(sim, lease, null, who));
        }
    }

    /** It has not carried out the call, which may be sent again. */
    private void refused() {
        replied = false;
        server.refuse(lease.stepId(), rounds());
        track(before, () -> report(new Command.Fail(lease.runId(), lease.stepId(), lease.epoch(), error("REFUSED"),
                Result.spent(Tokens.NONE, BigDecimal.ZERO, null), who)));
    }

    private CallWait wait(State state, int rounds) {
        boolean asks = state == State.ASKED;
        return new CallWait(state, SYSTEM, "ask", null, null, asks ? "{}" : null,
                asks || before == null ? null : before.answers(), rounds);
    }

    private Command asks(CallWait question) {
        return new Command.Release(lease.runId(), lease.stepId(), lease.epoch(),
                new Deferral(lease.epoch() % 2 == 0 ? PATIENCE : LOOK, Deferral.INBOX + "elic_" + lease.stepId(),
                        error("MCP_NOT_ANSWERED"), PATIENCE),
                question, List.of(), who);
    }

    private Command unknown() {
        return new Command.Fail(lease.runId(), lease.stepId(), lease.epoch(),
                new StepError("OUTCOME_UNKNOWN", ErrorClass.PERMANENT, "unknown"),
                Result.spent(Tokens.NONE, BigDecimal.ZERO, null), who);
    }

    private static StepError error(String code) {
        return new StepError(code, ErrorClass.INFRASTRUCTURE, code);
    }

    private void report(Command report) {
        if (end.getAsBoolean()) {
            node.own(node.sim.store.provider.honest(report));
        }
    }
}
