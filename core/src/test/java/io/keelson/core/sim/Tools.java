package io.keelson.core.sim;

import io.keelson.core.money.Tokens;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.Effects;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Deferral;
import io.keelson.core.run.NewArtifact;
import io.keelson.core.run.NewProposal;
import io.keelson.core.run.NextStepRequest;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TurnAnswer;
import io.keelson.core.run.Verdict;
import io.keelson.core.run.Verdict.Outcome;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What executing a step comes to, wherever it is executed. */
final class Tools {

    /** The input of calls with destructive effects. */
    static final String DESTROYS = "{\"destroys\": true}";

    /** The error of a system that has been busy for too long. */
    static final String BUSY = "BUSY";

    private Tools() {}

    /** Mostly short; now and then longer than timeouts and leases. */
    static Duration time(Simulation sim) {
        return sim.between(1, sim.chance(85) ? 2_000 : sim.chance(70) ? 12_000 : 70_000);
    }

    /** @param request what the worker wants to go on with; null for nothing */
    static Command report(Simulation sim, Held lease, NextStepRequest request, Actor who) {
        boolean calm = sim.faultRates.calm();
        int dice = sim.random.nextInt(100);
        Result result = result(sim, lease);
        if (dice < (lease.spec().kind() == StepKind.TURN ? 35 : calm ? 0 : 3)) {
            return new Command.Continue(lease.runId(), lease.stepId(), lease.epoch(), result, who);
        }
        if (dice >= 96 && !calm) {
            return new Command.Release(lease.runId(), lease.stepId(), lease.epoch(), dice == 99 ? busy(lease) : null,
                    who);
        }
        if (dice >= (calm ? 97 : 80)) {
            ErrorClass kind = dice == 95 ? ErrorClass.PERMANENT
                    : dice % 2 == 0 ? ErrorClass.QUALITY
                            : ErrorClass.INFRASTRUCTURE;
            Duration after = sim.chance(20) ? Duration.ofSeconds(5) : null;
            return new Command.Fail(lease.runId(), lease.stepId(), lease.epoch(),
                    new StepError("BROKEN", kind, "broken", after, dice % 3 == 0 ? lease.spec().tool() : null),
                    Result.spent(result.tokens(), result.cost(), result.model()), who);
        }
        return new Command.Complete(lease.runId(), lease.stepId(), lease.epoch(), result, request, who);
    }

    private static Deferral busy(Held lease) {
        return new Deferral(Duration.ofSeconds(lease.epoch() % 3 == 0 ? 60 : 5), lease.spec().tool(),
                new StepError(BUSY, ErrorClass.INFRASTRUCTURE, "busy"));
    }

    /** What a part of an execution has used. */
    static Result use(Simulation sim) {
        return Result.spent(tokens(sim), sim.chance(70) ? sim.amount(sim.random.nextInt(300), 4) : null,
                "model");
    }

    private static Result result(Simulation sim, Held lease) {
        boolean costs = sim.chance(40);
        List<NewArtifact> artifacts = sim.chance(10) ? List.of(new NewArtifact("file" + sim.random.nextInt(30),
                "text/plain", 1, "0".repeat(64), "key " + lease.stepId() + "." + lease.epoch())) : List.of();
        return new Result("\"" + lease.epoch() + "\"", costs ? tokens(sim) : Tokens.NONE,
                costs && sim.chance(70) ? sim.amount(sim.random.nextInt(900), 4) : null,
                sim.chance(30) ? "model" : null, artifacts, proposals(sim),
                lease.spec().kind() == StepKind.VERIFY ? verdict(sim) : null,
                lease.spec().kind() == StepKind.TURN ? turn(sim) : null);
    }

    private static Tokens tokens(Simulation sim) {
        int total = sim.random.nextInt(500);
        int output = total / 4;
        return new Tokens(total - total / 3 - total / 7 - output, total / 3, total / 7, output, output / 2);
    }

    private static List<NewProposal> proposals(Simulation sim) {
        return sim.chance(5) ? List.of(new NewProposal(sim.nextId(), "a title", null, null,
                sim.chance(50) ? Duration.ofSeconds(20) : null)) : List.of();
    }

    /** Tool calls that may be allowed, an end, an invalid answer, one to be repeated, or a plain output. */
    private static TurnAnswer turn(Simulation sim) {
        int dice = sim.random.nextInt(20);
        if (dice < 9) {
            List<TurnAnswer.Call> calls = new ArrayList<>();
            boolean reads = sim.chance(30);
            for (int i = 1 + sim.random.nextInt(reads ? 5 : 3); i > 0; i--) {
                String tool = List.of(RandomPlans.LOCAL, "remote", "forbidden").get(sim.random.nextInt(3));
                int n = i % 2;
                if (n == 0 && !reads && tool.equals("forbidden")) {
                    tool = AgentTerms.DELEGATE;
                }
                StepError refusal = sim.chance(10)
                        ? new StepError("TOOL_INPUT_INVALID", ErrorClass.PERMANENT, "no JSON")
                        : null;
                Effects effects = reads ? Effects.READ : sim.chance(20) ? Effects.DESTRUCTIVE : null;
                String input = effects == Effects.DESTRUCTIVE ? DESTROYS : "{\"n\": " + n + "}";
                calls.add(new TurnAnswer.Call(tool, input, "digest" + input.length() + n,
                        n == 0 && !reads ? RetryPolicy.NONE : RetryPolicy.STEP, Duration.ofSeconds(20), refusal,
                        effects));
            }
            return new TurnAnswer.Calls(calls);
        }
        return dice < 13 ? new TurnAnswer.Done("true")
                : dice < 15 && !sim.faultRates.calm() ? new TurnAnswer.Unreadable("no")
                        : dice == 15 ? new TurnAnswer.Again() : null;
    }

    /** The call of a program. */
    static TurnAnswer.Call call(Simulation sim) {
        int n = sim.random.nextInt(3);
        String tool = n == 2 ? AgentTerms.ASK : List.of(RandomPlans.LOCAL, "remote").get(sim.random.nextInt(2));
        return new TurnAnswer.Call(tool, "{\"n\": " + n + "}", "digest" + n,
                n == 0 ? RetryPolicy.NONE : RetryPolicy.STEP, Duration.ofSeconds(20), null,
                n == 0 ? Effects.ONCE : Effects.READ);
    }

    /** Null for what cannot be read as one. */
    private static Verdict verdict(Simulation sim) {
        int dice = sim.faultRates.calm() ? 0 : sim.random.nextInt(20);
        return dice == 19 ? null
                : new Verdict(dice < 12 ? Outcome.PASSED
                        : dice < 16 ? Outcome.REJECTED
                                : Outcome.UNSURE,
                        dice % 2 == 0 ? BigDecimal.ONE : null, dice % 3 == 0 ? "more" : null);
    }
}
