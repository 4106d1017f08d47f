package io.keelson.server.http;

import io.keelson.core.run.Command;
import io.keelson.server.run.RunReader.Allotment;
import java.math.BigDecimal;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A run that another one has started costs no more than that one has allotted it. Where somebody allows it more, the
 * other one is asked first; what it gives stays given should this server die before the run hears of it.
 */
final class ParentShare {

    private final Reads reads;
    private final Submission submission;

    ParentShare(Reads reads, Submission submission) {
        this.reads = reads;
        this.submission = submission;
    }

    /**
     * Before the run's hard limit is set.
     *
     * @param hardLimit null where none is
     * @throws Refusal when the run that started it cannot give so much
     */
    void ask(Call call, UUID run, @Nullable BigDecimal hardLimit) throws InterruptedException {
        ask(call, run, hardLimit, false);
    }

    /** Likewise, of a run that is held up; if it is not, nobody is asked. */
    void askForStopped(Call call, UUID run, @Nullable BigDecimal hardLimit) throws InterruptedException {
        ask(call, run, hardLimit, true);
    }

    private void ask(Call call, UUID run, @Nullable BigDecimal hardLimit, boolean onlyStopped)
            throws InterruptedException {
        if (hardLimit == null) {
            return;
        }
        Optional<Allotment> has = reads.read((runs, c) -> runs.allotment(c, call.workspace(), run))
                .filter(allotment -> allotment.stopped() || !onlyStopped);
        if (has.isPresent() && has.get().amount().compareTo(hardLimit) < 0) {
            submission.prepare(call, new Command.Allot(has.get().parentId(), run, hardLimit, call.actor()));
            submission.prepare(call, new Command.Allotted(run, hardLimit, call.actor()));
        }
    }
}
