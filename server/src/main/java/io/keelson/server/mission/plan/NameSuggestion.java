package io.keelson.server.mission.plan;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.IntStream;

/** Suggests the known name that an unknown one probably means. */
public final class NameSuggestion {
    private static final int LONGEST = 50;

    private NameSuggestion() {}

    /** {@code "; did you mean 'x'?"} when something known is near, else nothing. */
    public static String hint(String name, Collection<String> known) {
        return of(name, known).map(other -> "; did you mean '" + other + "'?").orElse("");
    }

    /** The known name that is nearest; empty where none is near. */
    public static Optional<String> of(String name, Collection<String> known) {
        return name.length() > LONGEST ? Optional.empty()
                : known.stream().filter(other -> distance(name, other) <= Math.max(2, other.length() / 3))
                        .min(Comparator.comparingInt(other -> distance(name, other)));
    }

    /** Suggests a name of several words, such as {@code KEELSON_HTTP_PORT}: each word must be near. */
    public static String hintByWords(String name, Collection<String> known) {
        return hint(name, known.stream().filter(other -> near(name, other)).toList());
    }

    private static boolean near(String name, String other) {
        if (distance(name, other) <= 2) {
            return true;
        }
        String[] words = name.split("_");
        String[] others = other.split("_");
        return words.length == others.length && IntStream.range(0, words.length)
                .allMatch(i -> distance(words[i], others[i]) <= Math.max(1, others[i].length() / 3));
    }

    /** Insertions, deletions and replacements from one to the other (Levenshtein). */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[b.length()];
    }
}
