package io.keelson.bench.contender;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Restate's server, which comes as an npm package; installed once and kept. */
final class RestateProgram {
    private static final String PACKAGE = "@restatedev/restate-server@1.7.12";
    private static final long MINUTES = 5;

    private RestateProgram() {}

    /** @throws IOException when it cannot be installed here, saying why */
    static Path in(Path cache) throws IOException, InterruptedException {
        Path folder = Files.createDirectories(cache.resolve("restate"));
        if (find(folder).isEmpty()) {
            install(folder);
        }
        return find(folder).orElseThrow(() -> new IOException(PACKAGE + " brings no program for this machine"));
    }

    private static Optional<Path> find(Path folder) throws IOException {
        Predicate<Path> program = file -> file.endsWith(Path.of("bin", "restate-server"));
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(program.and(Files::isExecutable)).findFirst();
        }
    }

    private static void install(Path folder) throws IOException, InterruptedException {
        Path log = folder.resolve("npm.log");
        Process npm;
        try {
            npm = new ProcessBuilder(List.of("npm", "install", "--no-audit", "--no-fund", "--prefix",
                    folder.toString(), PACKAGE)).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        } catch (IOException e) {
            throw new IOException("Restate comes by npm, and there is no npm here", e);
        }
        if (!npm.waitFor(MINUTES, TimeUnit.MINUTES) || npm.exitValue() != 0) {
            npm.destroyForcibly();
            throw new IOException("npm could not install " + PACKAGE + "; " + log + " says why");
        }
    }
}
