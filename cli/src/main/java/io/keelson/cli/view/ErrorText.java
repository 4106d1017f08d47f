package io.keelson.cli.view;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Messages of errors, which may have many lines: that of a program ends with its last output, such as a stack trace. */
public final class ErrorText {

    /** A line of a stack trace with the name of an error; the last one has the cause. */
    private static final Pattern NAMED =
            Pattern.compile("(?:\\S.*[\\s.])?[\\w$]*(?:Error|Exception)(?: \\[\\w+])?(?:: .*)?");

    private ErrorText() {}

    /** The code with the message on one line: its first line with the name of the error from a later line. */
    public static String line(String code, @Nullable String message) {
        String gist = shortened(message);
        return TerminalText.clean(gist.isEmpty() ? code : code + ": " + gist);
    }

    /** The message on one line; empty for null. */
    public static String shortened(@Nullable String message) {
        List<String> lines = message == null ? List.of() : message.lines().filter(line -> !line.isBlank()).toList();
        if (lines.size() < 2) {
            return TerminalText.clean(message);
        }
        String named = lines.stream().skip(1).filter(line -> NAMED.matcher(line).matches())
                .reduce((first, second) -> second).orElse(lines.getLast());
        return TerminalText.clean(lines.getFirst()) + " … " + TerminalText.clean(named);
    }

    /** The whole text with its line breaks, each line harmless; all but the first are indented. */
    public static List<String> block(String text, int columns) {
        List<String> block = new ArrayList<>();
        text.lines().map(line -> TerminalText.visible(line.replace("\t", "    ")).stripTrailing())
                .forEach(line -> block.addAll(TerminalText.wrap(block.isEmpty() ? line : "  " + line, columns, "  ")));
        return block;
    }
}
