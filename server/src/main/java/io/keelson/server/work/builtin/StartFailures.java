package io.keelson.server.work.builtin;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Explains why the system did not start a process. */
final class StartFailures {

    /** {@code ProcessBuilder} has the number of the system's error only in its text. */
    private static final Pattern NUMBER = Pattern.compile("error[=:] ?(\\d+)");

    private StartFailures() {}

    /** @return a clause without a period */
    static String reason(IOException failure) {
        String text = String.valueOf(failure.getMessage());
        Matcher number = NUMBER.matcher(text);
        if (number.find()) {
            return switch (number.group(1)) {
                case "2" -> "the shell or the working folder was not found on the server";
                case "7" -> "its arguments are longer than the system allows";
                case "11" -> "the system has reached its limit of processes";
                case "12" -> "the system has no memory left";
                case "13" -> "the server may not execute the shell or enter the working folder";
                case "23", "24" -> "the system has reached its limit of open files";
                default -> "the system reported error " + number.group(1);
            };
        }
        return failure instanceof FileSystemException
                ? "its standard input could not be written to a temporary file"
                : text;
    }
}
