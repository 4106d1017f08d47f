package io.keelson.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Clock;

/** The entry point of the program. */
public final class Main {

    /** The clock of the process. */
    static final Clock CLOCK = Clock.systemUTC();

    private Main() {}

    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    /** @return the exit code */
    static int run(String... arguments) {
        return Cli.run(utf8(FileDescriptor.out), utf8(FileDescriptor.err), CLOCK, System.getenv(), arguments);
    }

    /** Writes text as UTF-8, regardless of the container's locale. */
    private static PrintWriter utf8(FileDescriptor descriptor) {
        return new PrintWriter(new OutputStreamWriter(new FileOutputStream(descriptor), StandardCharsets.UTF_8), true);
    }
}
