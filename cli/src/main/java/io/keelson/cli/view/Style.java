package io.keelson.cli.view;

import io.keelson.api.run.Run;

/**
 * How text is dressed.
 *
 * @param color whether ANSI colours are used
 * @param unicode whether symbols beyond ASCII are used
 * @param columns width of the terminal, which no table exceeds; 0 for no bound
 */
public record Style(boolean color, boolean unicode, int columns) {

    /** For pipes and files. */
    public static final Style PLAIN = new Style(false, true, 0);

    private static final String[] SPINNER = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
    private static final String[] ASCII_SPINNER = {"|", "/", "-", "\\"};

    public String bold(String text) {
        return dressed("1", text);
    }

    public String dim(String text) {
        return dressed("2", text);
    }

    public String red(String text) {
        return dressed("31", text);
    }

    public String green(String text) {
        return dressed("32", text);
    }

    public String yellow(String text) {
        return dressed("33", text);
    }

    public String cyan(String text) {
        return dressed("36", text);
    }

    /** A state's name in its colour. */
    public String state(String state) {
        return inColorOf(state, state);
    }

    /** A run's state in its colour, with a phrase for a run that completed with failures. */
    public String state(Run run) {
        return run.completedWithFailures() ? withFailures() : state(run.state());
    }

    /** The phrase for a run that completed with failures. */
    public String withFailures() {
        return yellow("completed with failures");
    }

    String inColorOf(String state, String text) {
        return switch (Phase.of(state)) {
            case DONE -> green(text);
            case FAILED -> red(text);
            case ACTIVE -> cyan(text);
            case HUMAN, RETRY -> yellow(text);
            case WAITING, DROPPED -> dim(text);
        };
    }

    /** One column wide. */
    String symbol(Phase phase, int tick) {
        return switch (phase) {
            case DONE -> green(unicode ? "✓" : "+");
            case FAILED -> red(unicode ? "✗" : "x");
            case ACTIVE -> cyan(spinner(tick));
            case HUMAN -> yellow("?");
            case RETRY -> yellow(unicode ? "↻" : "~");
            case WAITING -> dim(unicode ? "·" : ".");
            case DROPPED -> dim("-");
        };
    }

    private String spinner(int tick) {
        String[] frames = unicode ? SPINNER : ASCII_SPINNER;
        return frames[Math.floorMod(tick, frames.length)];
    }

    String ellipsis() {
        return unicode ? "…" : "...";
    }

    private String dressed(String code, String text) {
        return color && !text.isEmpty() ? "\u001b[" + code + "m" + text + "\u001b[0m" : text;
    }
}
