package io.keelson.server.mission.plan;

import io.keelson.core.plan.PlanProblem;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.StepError;
import io.keelson.server.base.compute.Computation;
import io.keelson.server.base.compute.UnbudgetedWork;
import io.keelson.server.engine.execute.Replanner;
import io.keelson.server.engine.store.read.ScopeReader;
import io.keelson.server.mission.plan.NewPlans.Checked;
import java.util.List;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** Judges planners' answers as missions' plans are judged. */
public final class PlannerAnswerValidator implements Replanner {
    private static final String CODE = "REPLAN_INVALID";
    private static final String FIRST_CODE = "PLAN_INVALID";
    /** No planner can set a price: a person is asked at once. */
    private static final String NO_PRICE = "NO_PRICE";

    private static final String UNREADABLE = "PLAN_UNREADABLE";

    private final NewPlans plans;
    private final Computation computation;

    /** The thread that asks judges. */
    public PlannerAnswerValidator(NewPlans plans) {
        this(plans, Computation.direct());
    }

    /** @param computation where answers are judged */
    public PlannerAnswerValidator(NewPlans plans, Computation computation) {
        this.plans = plans;
        this.computation = computation;
    }

    @Override
    public Evaluation judge(ScopeReader.Replan replan) {
        JsonNode answer = replan.answer();
        if (answer == null) {
            return broken(replan, "the planner gave no plan");
        }
        if (answer.path("text").isString() && !answer.has("tasks")) {
            return broken(replan, "/plan: the answer is no JSON object with tasks (" + UNREADABLE + ")");
        }
        return UnbudgetedWork.run(computation, replan.workspace(), () -> judged(replan, answer));
    }

    private Evaluation judged(ScopeReader.Replan replan, JsonNode answer) {
        return switch (plans.read(replan.workspace(), answer, replan.config(), replan.plan(), replan.finished(),
                replan.inputs())) {
            case ReadResult.Ok<Checked>(Checked made) -> new Evaluation.Planned(made.plan(), made.json(),
                    NewPlans.terms(replan.config(), made));
            case ReadResult.Invalid<Checked>(List<PlanProblem> problems) when problems.stream()
                    .allMatch(each -> each.code().equals(NO_PRICE)) ->
                new Evaluation.Broken(new StepError(NO_PRICE, ErrorClass.PERMANENT, "the plan is good but for prices: "
                        + text(problems) + "; then " + (replan.first() ? "retry the run" : "resume this ticket")));
            case ReadResult.Invalid<Checked>(List<PlanProblem> problems) -> broken(replan, text(problems));
        };
    }

    private static String text(List<PlanProblem> problems) {
        return problems.stream().map(each -> each.pointer() + ": " + each.message() + " (" + each.code() + ")")
                .collect(Collectors.joining("; "));
    }

    private static Evaluation broken(ScopeReader.Replan replan, String message) {
        return new Evaluation.Broken(new StepError(replan.first() ? FIRST_CODE : CODE, ErrorClass.QUALITY, message));
    }
}
