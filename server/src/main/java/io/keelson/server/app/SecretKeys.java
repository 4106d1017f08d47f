package io.keelson.server.app;

import io.keelson.server.tenant.secret.SealingKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Keys that encrypt an installation's secrets, from the settings or else from the data directory. */
public final class SecretKeys {

    private SecretKeys() {}

    /** The first key encrypts, all keys decrypt. Creates the file of a key if the installation has no key. */
    static List<SealingKey> of(Settings settings) throws IOException {
        return settings.keys().secrets().isEmpty() ? List.of(SealingKey.ofFile(file(settings)))
                : settings.keys().secrets();
    }

    /** The key's file in the data directory. */
    public static Path file(Settings settings) {
        return settings.dataDir().resolve("secret-key");
    }

    /** Which of these keys the installation does not have. */
    public static List<String> missing(Settings settings, List<String> ids) throws IOException {
        boolean any = !settings.keys().secrets().isEmpty() || Files.exists(file(settings));
        List<String> present = any ? of(settings).stream().map(SealingKey::id).toList() : List.of();
        return ids.stream().filter(id -> !present.contains(id)).toList();
    }
}
