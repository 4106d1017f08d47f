package io.keelson.server.annex.postgres;

import com.sun.security.auth.module.UnixSystem;
import io.keelson.server.base.db.DatabaseException;
import io.keelson.server.base.db.DatabaseException.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * As whom PostgreSQL's programs run. They refuse to run as root; there a user namespace hides root from them, or, where
 * the machine forbids namespaces (as containers do), they run as the user nobody, who then owns the data.
 *
 * @param prefix the words to put before a program's command line; the program replaces that command, keeping its id
 * @param owner  the numeric user that must own the cluster's files
 */
record Privileges(List<String> prefix, long owner) {

    private static final long ROOT = 0;
    private static final long NOBODY = 65534;

    static final Privileges NAMESPACE = new Privileges(List.of("unshare", "-U"), ROOT);
    static final Privileges OTHER_USER = new Privileges(
            List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups"), NOBODY);

    /** The ways to try here, best first. */
    static List<Privileges> ways() {
        long user = new UnixSystem().getUid();
        return user == ROOT ? List.of(NAMESPACE, OTHER_USER) : List.of(new Privileges(List.of(), user));
    }

    /**
     * The first way that works for these programs and this data directory.
     *
     * @throws DatabaseException EMBEDDED_POSTGRES_UNSUPPORTED where none does
     */
    static Privileges choose(List<Privileges> ways, PostgresBinaries binaries, Path dataDirectory) {
        var problems = new StringBuilder();
        for (Privileges way : ways) {
            Shell.Result tried = way.probe(binaries, dataDirectory);
            if (tried.ok()) {
                return way;
            }
            problems.append("\n  ").append(String.join(" ", way.prefix())).append(": ").append(tried.output());
        }
        throw new DatabaseException(Code.EMBEDDED_POSTGRES_UNSUPPORTED, "The embedded PostgreSQL cannot run with its"
                + " data in " + dataDirectory + ". Run Keelson as an ordinary user (PostgreSQL refuses root) on Linux"
                + " with glibc or macOS, or set KEELSON_DATABASE_URL to a PostgreSQL 15 or newer." + problems);
    }

    /** The command line that runs the program this way. */
    List<String> command(Path program, List<String> arguments) {
        var command = new ArrayList<>(prefix);
        command.add(program.toString());
        command.addAll(arguments);
        return command;
    }

    /** Gives the file, or the folder with everything below it, to the user as whom PostgreSQL runs. */
    void own(Path path) throws IOException {
        if (!Objects.equals(owner(path), (int) owner)) {
            for (Path each : FilePermissions.tree(path)) {
                Files.setAttribute(each, "unix:uid", (int) owner, LinkOption.NOFOLLOW_LINKS);
            }
        }
    }

    private Shell.Result probe(PostgresBinaries binaries, Path dataDirectory) {
        try {
            if (owner == NOBODY) {
                Files.setAttribute(dataDirectory, "unix:uid", (int) owner);
            }
        } catch (IOException e) {
            throw DataDirectory.notWritable(dataDirectory, e);
        }
        String script = "cd \"$2\" && exec \"$1\" --version";
        return Shell.run(command(Path.of("sh"), List.of("-c", script, "probe", binaries.postgres().toString(),
                dataDirectory.toString())));
    }

    private static Object owner(Path path) throws IOException {
        return Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    }
}
