package io.keelson.server.tenant.auth;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A person or a service of a workspace: who acts with an API key, as events and logs name it.
 *
 * @param name unique in its workspace, never changed
 */
public record Principal(Kind kind, String name) {

    /** The form of new names: letters, digits and {@code . _ @ + -}. */
    public static final Pattern NAME = Pattern.compile("[\\p{L}\\p{Nd}][\\p{L}\\p{Nd}._@+-]{0,99}");

    /** Names of principals that a server creates for its own keys, in lower case; clients cannot use them. */
    public static final Set<String> RESERVED = Set.of("local", "bootstrap");

    /** The kind of a principal. */
    public enum Kind {
        PERSON, SERVICE;

        public String wire() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** In the words of events. */
        String actor() {
            return this == PERSON ? "human" : "service";
        }

        static Kind of(String wire) {
            return valueOf(wire.toUpperCase(Locale.ROOT));
        }

        /** Both as texts. */
        public static List<String> words() {
            return Arrays.stream(values()).map(Kind::wire).toList();
        }
    }
}
