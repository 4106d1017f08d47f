package io.keelson.server.artifact;

import java.io.IOException;

/** An artifact the store will not take, whatever the attempt: {@code ARTIFACT_NAME_INVALID}, {@code ARTIFACT_TOO_LARGE}. */
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
