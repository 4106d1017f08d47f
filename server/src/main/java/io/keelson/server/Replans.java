package io.keelson.server;

import io.keelson.core.plan.Problem;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.StepError;
import io.keelson.server.engine.Replanner;
import io.keelson.server.plan.NewPlans;
import io.keelson.server.plan.NewPlans.Checked;
import io.keelson.server.plan.Reading;
import io.keelson.server.run.ScopeReader;
import java.util.List;
import java.util.stream.Collectors;

/** Judges planners' answers as missions' plans are judged. */
public final class Replans implements Replanner {
    private static final String CODE = "REPLAN_INVALID";
    private static final String FIRST_CODE = "PLAN_INVALID";

    private final NewPlans plans;

    public Replans(NewPlans plans) {
        this.plans = plans;
    }

    @Override
    public Evaluation judge(ScopeReader.Replan replan) {
        if (replan.answer() == null) {
            return broken(replan, "the planner gave no plan");
        }
        return switch (plans.read(replan.workspace(), replan.answer(), replan.plan(), replan.finished(),
                replan.inputs())) {
            case Reading.Done<Checked>(Checked made) -> new Evaluation.Planned(made.plan(), made.json(),
                    NewPlans.terms(replan.config(), made));
            case Reading.Refused<Checked>(List<Problem> problems) -> broken(replan, problems.stream()
                    .map(each -> each.pointer() + ": " + each.message() + " (" + each.code() + ")")
                    .collect(Collectors.joining("; ")));
        };
    }

    private static Evaluation broken(ScopeReader.Replan replan, String message) {
        return new Evaluation.Broken(new StepError(replan.first() ? FIRST_CODE : CODE, ErrorClass.QUALITY, message));
    }
}
