package io.keelson.server;

import io.keelson.core.plan.Problem;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.StepError;
import io.keelson.server.engine.Replanner;
import io.keelson.server.plan.PlanRevision;
import io.keelson.server.plan.PlanRevision.Revised;
import io.keelson.server.plan.Reading;
import io.keelson.server.run.ScopeReader;
import java.util.List;
import java.util.stream.Collectors;

/** Judges planners' answers as missions' plans are judged. */
public final class Replans implements Replanner {
    private static final String CODE = "REPLAN_INVALID";

    private final PlanRevision revision;

    public Replans(PlanRevision revision) {
        this.revision = revision;
    }

    @Override
    public Evaluation judge(ScopeReader.Replan replan) {
        if (replan.answer() == null) {
            return broken("the planner gave no plan");
        }
        return switch (revision.read(replan.plan(), replan.version() + 1, replan.finished(), replan.inputs(),
                replan.answer())) {
            case Reading.Done<Revised>(Revised made) -> new Evaluation.Planned(made.plan(), made.json());
            case Reading.Refused<Revised>(List<Problem> problems) -> broken(problems.stream()
                    .map(each -> each.pointer() + ": " + each.message() + " (" + each.code() + ")")
                    .collect(Collectors.joining("; ")));
        };
    }

    private static Evaluation broken(String message) {
        return new Evaluation.Broken(new StepError(CODE, ErrorClass.QUALITY, message));
    }
}
