package io.keelson.server.engine.commit;

import io.keelson.core.decide.ChangeSet;
import java.time.Instant;

/** Two observers, in order. */
public record Observers(Observer first, Observer second) implements Observer {

    @Override
    public void committed(ChangeSet changes, Instant now) {
        first.committed(changes, now);
        second.committed(changes, now);
    }

    @Override
    public void batchEnded(BatchPath path, int commands, long nanos) {
        first.batchEnded(path, commands, nanos);
        second.batchEnded(path, commands, nanos);
    }

    @Override
    public void overloaded() {
        first.overloaded();
        second.overloaded();
    }

    @Override
    public void repaired(Duty duty, int found) {
        first.repaired(duty, found);
        second.repaired(duty, found);
    }

    @Override
    public void database(boolean answers) {
        first.database(answers);
        second.database(answers);
    }
}
