package io.keelson.server.annex.postgres;

import io.keelson.server.base.db.DatabaseException;
import io.keelson.server.base.db.DatabaseException.Code;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The folder of database files: made once by initdb, and never run by two servers. */
final class Cluster {

    static final String SUPERUSER = "keelson";

    private static final Logger LOG = LoggerFactory.getLogger(Cluster.class);
    private static final String STOP_SECONDS = "60";
    private static final String UNFINISHED = "postgres.new";

    private final DataDirectory directory;
    private final PostgresBinaries binaries;
    private final Privileges privileges;

    Cluster(DataDirectory directory, PostgresBinaries binaries, Privileges privileges) {
        this.directory = directory;
        this.binaries = binaries;
        this.privileges = privileges;
    }

    Path path() {
        return directory.cluster();
    }

    Path logs() {
        return directory.logs();
    }

    /**
     * Makes the cluster where absent, beside its final place, so that it appears whole or not at all.
     *
     * @param durable whether its files must survive a power cut
     * @return the superuser's password
     */
    String prepare(boolean durable) {
        boolean absent = !Files.exists(path());
        if (!absent && !Files.exists(directory.secretFile())) {
            throw new DatabaseException(Code.EMBEDDED_POSTGRES_FAILED, directory.secretFile() + " is missing. Restore"
                    + " it from a backup: without it no user can log in to the database in " + path() + ".");
        }
        try {
            String secret = DatabasePassword.readOrCreate(directory.secretFile());
            FilePermissions.createPrivateDirectory(logs());
            privileges.own(logs());
            if (absent) {
                create(durable);
            }
            privileges.own(path());
            requireSameVersion();
            return secret;
        } catch (IOException e) {
            throw DataDirectory.notWritable(directory.path(), e);
        }
    }

    /**
     * Stops a server of this cluster that outlived its JVM. The caller holds the data directory's lock, so the server
     * has no users. A process with a reused id is left alone and its file removed, because PostgreSQL would refuse to
     * start.
     */
    void stopLeftover() {
        try {
            Optional<ProcessHandle> process = PostmasterFile.read(path())
                    .flatMap(file -> ProcessHandle.of(file.pid()));
            if (process.isEmpty()) {
                return;
            }
            Optional<String> program = process.get().info().command();
            if (servesThisCluster(process.get())) {
                stop();
            } else if (program.isPresent() && !program.get().endsWith("/postgres")) {
                Files.deleteIfExists(PostmasterFile.of(path()));
            }
        } catch (IOException e) {
            throw DataDirectory.notWritable(path(), e);
        }
    }

    /** Size of its disk. */
    long diskBytes() {
        try {
            return Files.getFileStore(path()).getTotalSpace();
        } catch (IOException e) {
            throw DataDirectory.notWritable(path(), e);
        }
    }

    /** The command line of the server on this port. */
    List<String> serverCommand(int port, Map<String, String> settings) {
        var arguments = new ArrayList<>(List.of("-D", path().toString(), "-p", Integer.toString(port)));
        settings.forEach((name, value) -> arguments.addAll(List.of("-c", name + "=" + value)));
        return privileges.command(binaries.postgres(), arguments);
    }

    private void create(boolean durable) throws IOException {
        deleteUnfinished();
        Path unfinished = path().resolveSibling(UNFINISHED + ProcessHandle.current().pid());
        FilePermissions.createPrivateDirectory(unfinished);
        privileges.own(unfinished);
        privileges.own(directory.secretFile());
        Shell.Result made = Shell.run(privileges.command(binaries.initdb(), List.of("-D", unfinished.toString(),
                "--username=" + SUPERUSER, "--pwfile=" + directory.secretFile(), "--auth=scram-sha-256",
                "--data-checksums", "--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8",
                "--locale=C", "--no-instructions", durable ? "--sync-method=fsync" : "--no-sync")));
        if (!made.ok()) {
            if (FullDisk.named(made.output())) {
                throw FullDisk.failure(directory.path(), null);
            }
            throw new DatabaseException(Code.EMBEDDED_POSTGRES_FAILED, "initdb could not create " + unfinished
                    + ". " + reason(made.output()));
        }
        Files.move(unfinished, path(), StandardCopyOption.ATOMIC_MOVE);
    }

    /** Deletes folders of killed processes. Their initdb may still write: such a folder is left to a later call. */
    private void deleteUnfinished() throws IOException {
        try (Stream<Path> siblings = Files.list(directory.path())) {
            for (Path each : siblings.filter(sibling -> sibling.getFileName().toString().startsWith(UNFINISHED))
                    .toList()) {
                try {
                    FilePermissions.deleteTree(each);
                } catch (DirectoryNotEmptyException | UncheckedIOException e) {
                    LOG.debug("{} is still in use", each, e);
                }
            }
        }
    }

    /** The message of initdb, or the remedy if its user has no entry in the password file. */
    static String reason(String output) {
        return output.contains("could not look up effective user ID")
                ? "PostgreSQL needs a user whom the password file (/etc/passwd) names, and this process runs as a user id"
                        + " without an entry: add one, run as another user, or set KEELSON_DATABASE_URL to a PostgreSQL of"
                        + " your own"
                : "Its last words:\n" + output;
    }

    private void requireSameVersion() throws IOException {
        String found = Files.readString(path().resolve("PG_VERSION")).strip();
        String ours = PostgresBinaries.version();
        if (!ours.startsWith(found + ".")) {
            throw new DatabaseException(Code.DATA_DIR_OTHER_VERSION, path() + " was made by PostgreSQL " + found
                    + " and this Keelson brings " + ours + ". Start the Keelson that made it, or move the data as the"
                    + " upgrade notes say.");
        }
    }

    private boolean servesThisCluster(ProcessHandle process) {
        List<String> arguments = Arrays.asList(process.info().arguments().orElse(new String[0]));
        int flag = arguments.indexOf("-D");
        return process.info().command().orElse("").endsWith("/postgres")
                && flag >= 0 && flag + 1 < arguments.size() && arguments.get(flag + 1).equals(path().toString());
    }

    private void stop() {
        for (String mode : List.of("fast", "immediate")) {
            Shell.Result stopped = Shell.run(privileges.command(binaries.pgCtl(),
                    List.of("stop", "-D", path().toString(), "-m", mode, "-t", STOP_SECONDS)));
            if (stopped.ok() || !Files.exists(PostmasterFile.of(path()))) {
                return;
            }
        }
        throw new DatabaseException(Code.DATA_DIR_IN_USE, "A PostgreSQL of an earlier start still runs on " + path()
                + " and does not stop. Its process id is in " + PostmasterFile.of(path()) + ": stop it by hand.");
    }
}
