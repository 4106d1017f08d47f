package io.keelson.cli.common;

/** How this program was called, so that the commands that it suggests can be copied. */
public final class ProgramName {

    private ProgramName() {}

    public static String current() {
        return System.getProperty("keelson.command", "keelson");
    }
}
