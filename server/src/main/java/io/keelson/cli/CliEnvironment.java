package io.keelson.cli;

import java.time.Clock;
import java.util.Map;

/** What the program hands to each of its commands. */
interface CliEnvironment {

    /** For times that are shown, never for a lease. */
    Clock clock();

    /** The variables that the program was called with. */
    Map<String, String> variables();
}
