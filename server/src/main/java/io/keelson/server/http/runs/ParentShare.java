package io.keelson.server.http.runs;

import io.keelson.core.run.Command;
import io.keelson.server.http.support.ApiProblem;
import io.keelson.server.http.support.ApiRequest;
import io.keelson.server.http.support.Reads;
import io.keelson.server.http.support.Submission;
import io.keelson.server.run.read.RunReader.Allotment;
import java.math.BigDecimal;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A run that another one has started costs no more than that one has allotted it. Where somebody allows it more, the
 * other one is asked first; what it gives stays given should this server die before the run hears of it.
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
    void ask(ApiRequest request, UUID run, @Nullable BigDecimal hardLimit) throws InterruptedException {
        ask(request, run, hardLimit, false);
    }

    /** Likewise, of a run that is held up; if it is not, nobody is asked. */
    public void askForStopped(ApiRequest request, UUID run, @Nullable BigDecimal hardLimit)
            throws InterruptedException {
        ask(request, run, hardLimit, true);
    }

    private void ask(ApiRequest request, UUID run, @Nullable BigDecimal hardLimit, boolean onlyStopped)
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
