package io.keelson.server.base.artifact;

import io.keelson.server.base.json.SafeText;
import java.nio.charset.StandardCharsets;

/** The rule for names of artifacts: a name is safe as a file name on every system. */
final class ArtifactName {

    private static final int MAX_BYTES = 255;

    private ArtifactName() {}

    static void check(String name) throws ArtifactRefusedException {
        if (name.isBlank() || name.equals(".") || name.equals("..")) {
            throw refused("an artifact needs a name");
        }
        if (name.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
            throw refused("an artifact's name has at most " + MAX_BYTES + " bytes");
        }
        if (name.indexOf('/') >= 0 || name.indexOf('\\') >= 0) {
            throw refused("an artifact's name is no path: " + name);
        }
        String hidden = SafeText.hidden(name);
        if (hidden != null || !SafeText.clean(name).equals(name)) {
            throw refused("an artifact's name has no control or format characters"
                    + (hidden == null ? "" : ", not " + hidden));
        }
    }

    private static ArtifactRefusedException refused(String message) {
        return new ArtifactRefusedException("ARTIFACT_NAME_INVALID", message);
    }
}
