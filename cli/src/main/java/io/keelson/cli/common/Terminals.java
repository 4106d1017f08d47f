package io.keelson.cli.common;

import io.keelson.cli.view.Style;
import java.io.Console;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** Properties of the terminal: whether it is interactive, and its display abilities. */
public final class Terminals {

    private Terminals() {}

    /** True when both standard input and standard output are a terminal that can do more than print. */
    public static boolean interactive() {
        Console console = System.console();
        return console != null && console.isTerminal() && !"dumb".equals(System.getenv("TERM"));
    }

    static Style style(boolean noColor, boolean interactive, Map<String, String> environment) {
        boolean refused = noColor || !environment.getOrDefault("NO_COLOR", "").isEmpty();
        return new Style(interactive && !refused, !interactive || unicode(environment), interactive ? columns() : 0);
    }

    /** Width of the terminal; 0 where it is unknown. JLine would send it queries, which is too much for a plain command. */
    private static int columns() {
        try {
            Process stty = new ProcessBuilder("stty", "size").redirectInput(Redirect.INHERIT)
                    .redirectError(Redirect.DISCARD).start();
            String[] size = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip()
                    .split(" ");
            return size.length == 2 ? Integer.parseInt(size[1]) : 0;
        } catch (IOException | NumberFormatException e) {
            return 0;
        }
    }

    private static boolean unicode(Map<String, String> environment) {
        return Stream.of("LC_ALL", "LC_CTYPE", "LANG").map(name -> environment.getOrDefault(name, ""))
                .filter(value -> !value.isEmpty()).findFirst()
                .map(value -> value.toLowerCase(Locale.ROOT).replace("-", "").contains("utf8")).orElse(false);
    }
}
