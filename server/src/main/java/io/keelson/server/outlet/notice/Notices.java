package io.keelson.server.outlet.notice;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Writes the notices of events. */
public interface Notices {

    /**
     * The receiver of a notice.
     *
     * @param recipient name of the principal that may answer by the notice's link; null for a notice without such a link
     * @param owner name of the principal that has added the receiver for itself; null for a receiver of the workspace
     */
    record Target(UUID workspace, UUID endpoint, @Nullable String recipient, @Nullable String owner) {}

    /** Whether the owner of the receiver may still read the workspace's runs; true for a receiver of the workspace. */
    boolean mayRead(Target target);

    /**
     * The notice of an event, as of now: a question that has been answered meanwhile has no link for an answer. Null if the
     * recipient has nothing to do or to learn, as when their approval waits for that of another person.
     *
     * @param body of the event's delivery
     */
    @Nullable Notice write(Target target, String body);
}
