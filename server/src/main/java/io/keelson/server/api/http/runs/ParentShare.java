package io.keelson.server.api.http.runs;

import io.keelson.core.run.Command;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Submission;
import io.keelson.server.engine.store.read.RunReader.Allotment;
import java.math.BigDecimal;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Raises the limit of a child run, whose cost is bounded by its parent's allotment. The
 * parent allots the amount first; the allotment stays if this server crashes before it reaches the child run.
 */
public final class ParentShare {

    private final Reads reads;
    private final Submission submission;

    public ParentShare(Reads reads, Submission submission) {
        this.reads = reads;
        this.submission = submission;
    }

    /**
     * Before the run's hard limit is set.
     *
     * @param hardLimit null where none is
     * @throws ApiProblem when the run that started it cannot give so much
     */
    void request(ApiRequest request, UUID run, @Nullable BigDecimal hardLimit) throws InterruptedException {
        request(request, run, hardLimit, false);
    }

    /** Requests a share for a run in {@code budget_exceeded}; ignores other runs. */
    public void requestForStopped(ApiRequest request, UUID run, @Nullable BigDecimal hardLimit)
            throws InterruptedException {
        request(request, run, hardLimit, true);
    }

    private void request(ApiRequest request, UUID run, @Nullable BigDecimal hardLimit, boolean onlyStopped)
            throws InterruptedException {
        if (hardLimit == null) {
            return;
        }
        Optional<Allotment> has = reads.read((runs, c) -> runs.allotment(c, request.workspace(), run))
                .filter(allotment -> allotment.stopped() || !onlyStopped);
        if (has.isPresent() && has.get().amount().compareTo(hardLimit) < 0) {
            submission.prepare(request,
                    new Command.AddChildBudget(has.get().parentId(), run, hardLimit, request.actor()));
            submission.prepare(request, new Command.ChildBudgetAdded(run, hardLimit, request.actor()));
        }
    }
}
