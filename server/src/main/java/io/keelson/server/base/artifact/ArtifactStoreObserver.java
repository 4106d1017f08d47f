package io.keelson.server.base.artifact;

/** Counts the use of an artifact store. */
public interface ArtifactStoreObserver {

    /** Requests to a store. */
    enum Operation {
        PUT, READ, DELETE, LIST
    }

    /** Results of requests. */
    enum Outcome {
        /** The store did it. */
        OK,
        /** There is no such content. */
        MISSING,
        /** The content to store broke off or was refused. */
        CONTENT,
        /** The store failed. */
        FAILED
    }

    /** After a request; of a read, after its first byte could be read. */
    void onRequest(Operation operation, Outcome outcome, long nanos);

    /** After a failure of the store while its content was read. */
    void onBrokenRead();

    void onStored(long bytes);

    void onRead(long bytes);
}
