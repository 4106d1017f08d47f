package io.keelson.server.base.artifact;

import java.io.IOException;

/**
 * A refused artifact; always: {@code ARTIFACT_NAME_INVALID}, {@code ARTIFACT_TOO_LARGE}; or for now: {@code
 * RUN_STORAGE_LIMIT_REACHED}, {@code STORAGE_LIMIT_REACHED}, {@code UPLOAD_LIMIT_REACHED}, {@code UPLOAD_TOO_SLOW}.
 */
public final class ArtifactRefusedException extends IOException {

    private static final long serialVersionUID = 1L;

    private final String code;

    public ArtifactRefusedException(String code, String message) {
        super(message);
        this.code = code;
    }

    public String code() {
        return code;
    }
}
