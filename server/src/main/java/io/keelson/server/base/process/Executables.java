package io.keelson.server.base.process;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Finds programs on the server's own {@code PATH}; never relative to a working folder. */
public final class Executables {

    /** The server's search path, also passed to started programs. */
    public static final String PATH = System.getenv().getOrDefault("PATH", "/usr/local/bin:/usr/bin:/bin");

    private Executables() {}

    public static @Nullable Path find(String name) {
        for (String folder : PATH.split(":")) {
            Path candidate = Path.of(folder).resolve(name);
            if (folder.startsWith("/") && Files.isRegularFile(candidate) && Files.isExecutable(candidate)) {
                return candidate;
            }
        }
        return null;
    }
}
