package io.keelson.server.annex.model.registry;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** Reads keys of providers from variables of the environment and files. Remembers the files. */
public final class KeySources {

    /** Names that are shown in problems. Another text may be a key instead of a name. */
    private static final Pattern VARIABLE = Pattern.compile("[A-Z][A-Z0-9_]{0,99}");
    /** Text that a header can carry. */
    private static final Pattern VALUE = Pattern.compile("[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?");

    private final Map<String, String> environment;
    private final Path folder;
    private final Function<IOException, String> reason;
    private final List<Path> files = new ArrayList<>();

    /**
     * @param folder what relative paths are relative to
     * @param reason why a file cannot be read, in words
     */
    public KeySources(Map<String, String> environment, Path folder, Function<IOException, String> reason) {
        this.environment = environment;
        this.folder = folder;
        this.reason = reason;
    }

    /** A source has no usable key; the message contains none either. */
    static final class UnavailableException extends Exception {
        private static final long serialVersionUID = 1L;

        UnavailableException(String message) {
            super(message);
        }
    }

    String variable(String name) throws UnavailableException {
        String shown = VARIABLE.matcher(name).matches() ? "the environment variable " + name
                : "the environment variable that is named here";
        String value = environment.getOrDefault(name, "").strip();
        if (value.isEmpty()) {
            throw new UnavailableException(shown + " is not set");
        }
        return usable(value, shown);
    }

    String file(String name) throws UnavailableException {
        try {
            Path file = folder.resolve(name).normalize();
            files.add(file);
            return usable(Files.readString(file).strip(), "the file " + file);
        } catch (InvalidPathException e) {
            throw new UnavailableException("this is no path");
        } catch (IOException e) {
            throw new UnavailableException("cannot read the file: " + reason.apply(e));
        }
    }

    /** The current key of the file; without a usable key in it, the last usable one. */
    Supplier<String> current(String name, String first) {
        Path file = folder.resolve(name).normalize();
        AtomicReference<String> last = new AtomicReference<>(first);
        return () -> {
            try {
                last.set(usable(Files.readString(file).strip(), "the file"));
            } catch (IOException | UnavailableException e) {
                return last.get();
            }
            return last.get();
        };
    }

    /** @param source as a problem names it */
    static String usable(String value, String source) throws UnavailableException {
        if (!VALUE.matcher(value).matches()) {
            throw new UnavailableException(
                    source + (value.isEmpty() ? " is empty" : " has characters that a header cannot carry"));
        }
        return value;
    }

    /** The files that were asked for; absolute where the folder is. */
    List<Path> files() {
        return List.copyOf(files);
    }
}
