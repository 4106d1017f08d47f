package io.keelson.server.base.artifact;

import io.keelson.server.base.json.SafeText;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;
import java.util.regex.Pattern;

/** Rules of all stores: names, media types, sizes and storage keys of artifacts. */
public final class ArtifactRules {

    private static final int MAX_NAME_BYTES = 255;
    private static final String UUID_PATTERN = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
    private static final Pattern KEY = Pattern.compile(
            UUID_PATTERN + "/" + UUID_PATTERN + "/" + UUID_PATTERN + "/[0-9]{1,10}-[0-9]{1,10}/" + UUID_PATTERN);
    private static final Pattern CONTENT_TYPE =
            Pattern.compile("[\\w.+*-]{1,100}/[\\w.+*-]{1,100}( ?;[\\x20-\\x7e]{1,100})?");

    private ArtifactRules() {}

    /**
     * Checks a new artifact. A name is safe as a file name on every system.
     *
     * @throws ArtifactRefusedException {@code ARTIFACT_NAME_INVALID}, {@code ARTIFACT_TYPE_INVALID}
     */
    public static void check(String name, String contentType) throws ArtifactRefusedException {
        checkName(name);
        if (!CONTENT_TYPE.matcher(contentType).matches()) {
            throw new ArtifactRefusedException("ARTIFACT_TYPE_INVALID", "not a media type: " + contentType);
        }
    }

    private static void checkName(String name) throws ArtifactRefusedException {
        if (name.isBlank() || name.equals(".") || name.equals("..")) {
            throw invalidName("an artifact needs a name");
        }
        if (name.getBytes(StandardCharsets.UTF_8).length > MAX_NAME_BYTES) {
            throw invalidName("an artifact's name has at most " + MAX_NAME_BYTES + " bytes");
        }
        if (name.indexOf('/') >= 0 || name.indexOf('\\') >= 0) {
            throw invalidName("an artifact's name is no path: " + name);
        }
        String hidden = SafeText.hidden(name);
        if (hidden != null || !SafeText.clean(name).equals(name)) {
            throw invalidName("an artifact's name has no control or format characters"
                    + (hidden == null ? "" : ", not " + hidden));
        }
    }

    private static ArtifactRefusedException invalidName(String message) {
        return new ArtifactRefusedException("ARTIFACT_NAME_INVALID", message);
    }

    /** Throws ARTIFACT_TOO_LARGE for content of more than the maximum. */
    public static void checkSize(long size, long maxBytes) throws ArtifactRefusedException {
        if (size > maxBytes) {
            throw new ArtifactRefusedException("ARTIFACT_TOO_LARGE", "an artifact has at most " + maxBytes + " bytes");
        }
    }

    /** A storage key that no other content has: workspace, run, step, attempt and lease epoch, and a random id. */
    public static String newKey(ArtifactOwner owner) {
        return "%s/%s/%s/%d-%d/%s".formatted(owner.workspaceId(), owner.runId(), owner.stepId(), owner.attempt(),
                owner.leaseEpoch(), UUID.randomUUID());
    }

    /** Whether a text has the form of {@link #newKey}. */
    public static boolean isKey(String text) {
        return KEY.matcher(text).matches();
    }

    /** A new digest of content. */
    public static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
