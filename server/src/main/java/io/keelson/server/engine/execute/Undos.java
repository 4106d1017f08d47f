package io.keelson.server.engine.execute;

import io.keelson.core.run.Command.Evaluation;
import java.util.UUID;

/** Creates the runs that undo others, and reads their states. */
@FunctionalInterface
public interface Undos {

    /** No run is undone. */
    Undos NONE = run -> {
        throw new IllegalStateException("no undos here");
    };

    /**
     * An {@link Evaluation.Undoes} while the run that undoes is wanted, an {@link Evaluation.UndoIs} once it exists, or an
     * {@link Evaluation.Broken} if it cannot be made.
     *
     * @param run the original
     */
    Evaluation of(UUID run);
}
