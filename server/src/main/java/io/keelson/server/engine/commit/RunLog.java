package io.keelson.server.engine.commit;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.run.Event;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.StepPayload;
import io.keelson.server.base.json.SafeText;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One log entry for each run that fails, is escalated or loses a worker, with its ids and the cause. */
public final class RunLog implements Observer {
    private static final Logger LOG = LoggerFactory.getLogger(RunLog.class);
    private static final int MAX_MESSAGE = 300;

    private record Lost(UUID run, String worker) {}

    @Override
    public void committed(ChangeSet changes, Instant now) {
        Map<Lost, UUID> lost = new LinkedHashMap<>();
        for (Event event : changes.events()) {
            switch (event.payload()) {
                case RunPayload.Failed failed ->
                    LOG.info("run {} failed in attempt {}: {}: {}", event.runId(), event.attempt(),
                            failed.errorCode(), text(failed.errorMessage()));
                case RunPayload.Escalated escalated ->
                    LOG.info("run {} is escalated by ticket {}: {}: {}", event.runId(),
                            escalated.ticketId(), escalated.reason(), text(escalated.message()));
                case StepPayload.LeaseExpired expired when event.stepId() != null ->
                    lost.putIfAbsent(new Lost(event.runId(), expired.worker()), event.stepId());
                default -> {
                    // no condition of the whole run
                }
            }
        }
        lost.forEach((who, step) -> LOG.info("run {} lost worker {}: the lease of its step {} expired", who.run(),
                text(who.worker()), step));
    }

    /** On one line, and not longer than one is read. */
    private static String text(String message) {
        String line = SafeText.clean(message).replaceAll("\\s+", " ");
        return line.length() <= MAX_MESSAGE ? line : line.substring(0, MAX_MESSAGE) + "…";
    }
}
