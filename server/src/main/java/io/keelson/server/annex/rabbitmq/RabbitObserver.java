package io.keelson.server.annex.rabbitmq;

import java.util.function.BooleanSupplier;

/** Counts messages to the broker by their outcome. */
public interface RabbitObserver {

    /** The fate of an attempt to send a message. */
    enum Happened {
        /** The broker has confirmed the first message about the work. */
        SENT,
        /** The broker has confirmed a further message about work that was still unclaimed. */
        REPEATED,
        /** The queue was full. */
        REFUSED,
        /** The broker did not confirm in time, or the connection was lost. */
        UNCONFIRMED
    }

    void messages(Happened happened, int count);

    /** Whether there is a connection to the broker. */
    void connected(BooleanSupplier connected);
}
