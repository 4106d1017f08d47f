package io.keelson.cli.common;

import java.time.Clock;
import java.util.Map;

/** The environment of commands: clock and variables. */
public interface CliEnvironment {

    /** For times that are shown, never for a lease. */
    Clock clock();

    /** The variables that the program was called with. */
    Map<String, String> variables();
}
