package io.keelson.core.run;

import io.keelson.core.lifecycle.EventType;

/** Payloads of events about an agent of a run. */
public sealed interface AgentPayload extends Payload {

    @Override
    default EventType type() {
        return switch (this) {
            case Started _ -> EventType.AGENT_STARTED;
            case Paused _ -> EventType.AGENT_PAUSED;
            case Resumed _ -> EventType.AGENT_RESUMED;
            case Retrying _ -> EventType.AGENT_RETRYING;
            case Completed _ -> EventType.AGENT_COMPLETED;
            case Failed _ -> EventType.AGENT_FAILED;
            case Skipped _ -> EventType.AGENT_SKIPPED;
            case Cancelled _ -> EventType.AGENT_CANCELLED;
        };
    }

    record Started() implements AgentPayload {}

    record Paused() implements AgentPayload {}

    record Resumed() implements AgentPayload {}

    record Retrying(int attemptNumber, String errorCode, String errorMessage, Schedule schedule)
            implements AgentPayload {
        @Override
        public void write(Members to) {
            to.put("attempt_number", attemptNumber).put("error_code", errorCode).put("error_message", errorMessage)
                    .all(schedule);
        }
    }

    record Completed() implements AgentPayload {}

    record Failed(boolean failureIgnored) implements AgentPayload {
        @Override
        public void write(Members to) {
            to.flag("failure_ignored", failureIgnored);
        }
    }

    record Skipped() implements AgentPayload {}

    record Cancelled() implements AgentPayload {}
}
