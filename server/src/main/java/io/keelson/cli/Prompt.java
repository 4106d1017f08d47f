package io.keelson.cli;

import java.io.Console;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Questions to whoever sits at the terminal. */
final class Prompt {

    private Prompt() {}

    /** Null when the terminal was closed instead of an answer. */
    static @Nullable Boolean ask(String question) {
        Console console = System.console();
        if (console == null) {
            return null;
        }
        while (true) {
            String answer = console.readLine("%s [y/n] ", question);
            if (answer == null) {
                return null;
            }
            switch (answer.strip().toLowerCase(Locale.ROOT)) {
                case "y", "yes" -> {
                    return true;
                }
                case "n", "no" -> {
                    return false;
                }
                default -> console.printf("Please answer y to approve or n to reject; Ctrl-D decides later.%n");
            }
        }
    }
}
