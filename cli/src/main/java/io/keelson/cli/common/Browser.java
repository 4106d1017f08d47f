package io.keelson.cli.common;

import io.keelson.client.Keelson;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The dashboard in the browser of this machine's user. */
public final class Browser {

    private static final String PAGES = "/ui/";

    private Browser() {}

    /**
     * A link that signs one browser in within a minute.
     *
     * @param run the run that it shows; null for the first page
     */
    public static String link(Keelson keelson, @Nullable String run) {
        String url = keelson.sessions().link().url();
        return run == null ? url : url.replace(PAGES + "#", PAGES + "runs/" + run + "#");
    }

    /** Opens a page where this machine has a screen; otherwise does nothing. */
    public static boolean open(String url, Map<String, String> environment) {
        List<String> command = command(url, System.getProperty("os.name").toLowerCase(Locale.ROOT), environment);
        if (command.isEmpty()) {
            return false;
        }
        try {
            new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** The program that opens a page; empty without a screen, as over SSH. */
    static List<String> command(String url, String system, Map<String, String> environment) {
        if (environment.containsKey("SSH_CONNECTION")) {
            return List.of();
        }
        if (system.startsWith("mac")) {
            return List.of("open", url);
        }
        if (system.startsWith("windows")) {
            return List.of("rundll32", "url.dll,FileProtocolHandler", url);
        }
        boolean screen = environment.containsKey("DISPLAY") || environment.containsKey("WAYLAND_DISPLAY");
        return screen ? List.of("xdg-open", url) : List.of();
    }
}
