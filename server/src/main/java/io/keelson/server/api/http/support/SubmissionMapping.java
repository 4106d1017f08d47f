package io.keelson.server.api.http.support;

import io.keelson.core.plan.PlanProblem;
import io.keelson.core.run.Command;
import io.keelson.server.mission.plan.ExternalIdPolicy;
import io.keelson.server.mission.plan.ReadResult;
import io.keelson.server.mission.submission.AdmissionControl;
import io.keelson.server.mission.submission.RunSubmission;
import io.keelson.server.mission.submission.SubmissionResult;
import java.util.List;
import java.util.UUID;

/** Maps requests to submissions of runs, and their results to answers. */
public final class SubmissionMapping {

    private SubmissionMapping() {}

    public static RunSubmission.Request of(ApiRequest request, Command.Create create, ExternalIdPolicy policy) {
        return new RunSubmission.Request(create, policy, request.limits(), request.keyUse(create.runId()),
                request.repeats());
    }

    /** @throws ApiProblem that lists all problems of an invalid document */
    public static <T> T value(ReadResult<T> result) {
        return switch (result) {
            case ReadResult.Ok<T>(T value) -> value;
            case ReadResult.Invalid<T>(List<PlanProblem> problems) -> throw ApiProblem.of(problems);
        };
    }

    /** @throws ApiProblem that names the limit */
    public static AdmissionControl.Permit permit(AdmissionControl.Admission admission) {
        return switch (admission) {
            case AdmissionControl.Permit permit -> permit;
            case SubmissionResult.LimitReached reached -> throw problem(reached);
        };
    }

    /** @throws ApiProblem if there is no run */
    public static SubmissionResult.Submitted submitted(SubmissionResult result) {
        return switch (result) {
            case SubmissionResult.Submitted submitted -> submitted;
            case SubmissionResult.ExternalIdTaken(UUID run) -> throw ApiProblem
                    .of(ErrorCode.EXTERNAL_ID_TAKEN, "the external id belongs to run " + run)
                    .with("pointer", "/external_id").with("run_id", run.toString());
            case SubmissionResult.InsufficientCredits insufficient -> throw problem(insufficient);
            case SubmissionResult.LimitReached reached -> throw problem(reached);
            case SubmissionResult.Rejected rejected -> throw Submission.problem(rejected.reply());
        };
    }

    public static ApiProblem problem(SubmissionResult.InsufficientCredits insufficient) {
        return ApiProblem.of(ErrorCode.INSUFFICIENT_CREDITS, insufficient.message());
    }

    private static ApiProblem problem(SubmissionResult.LimitReached reached) {
        return ApiProblem.of(ErrorCode.valueOf(reached.code()), reached.message()).with("limit", reached.limit())
                .header("Retry-After", Long.toString(Math.max(1, reached.retryAfter().plusMillis(999).toSeconds())));
    }
}
