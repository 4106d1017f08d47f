package io.keelson.server.base.artifact;

import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Stores documents about runs for readers without server access: {@code runs/<run>/status.json} and the files beside
 * it. One writer at a time per run, across all servers that share the store.
 */
public interface DocumentStore {

    /**
     * The progress of writing a run's documents.
     *
     * @param attempt the documents' attempt; earlier attempts have documents of their own
     * @param seq the run's last event in the documents; 0 before the attempt's first event
     * @param steps number of written results
     * @param sealed whether the attempt has ended and its documents are complete: they never change
     */
    record Mark(int attempt, long seq, long steps, boolean sealed) {

        /** The mark of a run without documents. */
        public static final Mark NONE = new Mark(1, 0, 0, false);
    }

    /** The documents of one run, with exclusive write access. */
    interface Writing extends AutoCloseable {

        Mark mark();

        /** Whole or not at all, and durable. */
        void put(String name, byte[] bytes) throws IOException;

        /** To be said after everything that it is about was put. */
        void mark(Mark mark) throws IOException;

        /** Moves all documents to {@code attempts/<n>/}, as they are. To be repeated after a crash. */
        void shelve(int attempt) throws IOException;

        /** Removes all documents of the run. */
        void remove() throws IOException;

        @Override
        void close() throws IOException;
    }

    /** Null while another writer has them. */
    @Nullable Writing open(UUID run) throws IOException;

    /** Handles some runs. */
    @FunctionalInterface
    interface Runs {
        void take(List<UUID> runs) throws IOException;
    }

    /** All runs that have documents, some at once, in no order. */
    void runs(Runs runs) throws IOException;
}
