package io.keelson.server.annex.postgres;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The content of a running cluster's {@code postmaster.pid}.
 *
 * @param pid   its main process
 * @param port  the port on which it listens
 * @param ready whether it takes connections, as a primary or as a standby
 */
record PostmasterFile(long pid, int port, boolean ready) {

    private static final int PID_LINE = 0;
    private static final int PORT_LINE = 3;
    private static final int STATUS_LINE = 7;
    private static final Set<String> TAKES_CONNECTIONS = Set.of("ready", "standby");

    static Path of(Path cluster) {
        return cluster.resolve("postmaster.pid");
    }

    /** Empty where there is no such file or PostgreSQL is still writing it. */
    static Optional<PostmasterFile> read(Path cluster) throws IOException {
        try {
            List<String> lines = Files.readAllLines(of(cluster));
            if (lines.size() <= PORT_LINE) {
                return Optional.empty();
            }
            boolean ready = lines.size() > STATUS_LINE && TAKES_CONNECTIONS.contains(lines.get(STATUS_LINE).strip());
            return Optional.of(new PostmasterFile(Long.parseLong(lines.get(PID_LINE).strip()),
                    Integer.parseInt(lines.get(PORT_LINE).strip()), ready));
        } catch (NoSuchFileException | NumberFormatException e) {
            return Optional.empty();
        }
    }
}
