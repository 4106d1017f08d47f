package io.keelson.cli.common;

import io.keelson.cli.common.ServerConnection.Work;
import io.keelson.client.Keelson;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A command whose work a server does: opens the connection, runs, closes it and ends with the exit code. */
public abstract class ClientCommand extends CliCommand {

    private @Nullable ServerConnection server;
    private int exitCode = ExitCode.OK;

    /** The server to start where none runs; none for commands that only read. */
    protected Work work() {
        return Work.OF_RUNNING_SERVER;
    }

    /** Checks options and reads files before the connection is opened. */
    protected void prepare() throws IOException {}

    /** Does the work and prints the result. */
    protected abstract void run(Keelson keelson) throws IOException;

    @Override
    public final Integer call() throws IOException {
        prepare();
        try (ServerConnection opened = ServerConnection.open(settings(), work(), this::news)) {
            server = opened;
            run(opened.keelson());
            return opened.interrupted() ? ExitCode.INTERRUPTED : exitCode;
        }
    }

    /** The connection, while the command runs. */
    protected final ServerConnection server() {
        return Objects.requireNonNull(server);
    }

    /** Sets the exit code of a command that does not end with {@link ExitCode#OK}. */
    protected final void exitCode(int code) {
        exitCode = code;
    }
}
