package io.keelson.server.app;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * Which Keelson this is, as the build wrote it down.
 *
 * @param number such as {@code 0.1.0}
 * @param commit abbreviated id of the commit it was built from; null when it was built outside a git checkout
 */
public record KeelsonVersion(String number, @Nullable String commit) {
    private static final KeelsonVersion CURRENT = read();

    public static KeelsonVersion current() {
        return CURRENT;
    }

    /** {@code 0.1.0 (1a2b3c4)}, or the number alone. */
    @Override
    public String toString() {
        return commit == null ? number : number + " (" + commit + ")";
    }

    private static KeelsonVersion read() {
        Properties written = new Properties();
        try (InputStream in = KeelsonVersion.class.getResourceAsStream("/keelson-version.properties")) {
            written.load(Objects.requireNonNull(in, "keelson-version.properties is not in the jar"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        String commit = written.getProperty("commit");
        // Outside a checkout the placeholder stays as it is.
        return new KeelsonVersion(written.getProperty("version"), commit.startsWith("$") ? null : commit);
    }
}
