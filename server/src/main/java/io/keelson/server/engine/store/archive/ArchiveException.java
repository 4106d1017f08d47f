package io.keelson.server.engine.store.archive;

import java.io.IOException;

/** A part of the archive that cannot be used as it is. */
public final class ArchiveException extends IOException {

    private static final long serialVersionUID = 1L;

    /** The problem. */
    public enum Problem {
        /** The object is absent. */
        MISSING,
        /** The content is not that of the digest. */
        DAMAGED,
        /** A newer version has written it. */
        NEWER
    }

    private final Problem problem;

    public ArchiveException(Problem problem, String message) {
        super(message);
        this.problem = problem;
    }

    public Problem problem() {
        return problem;
    }
}
