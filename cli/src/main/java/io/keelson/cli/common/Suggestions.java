package io.keelson.cli.common;

import io.keelson.server.mission.plan.NameSuggestion;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Suggests commands for unknown words of a command line. */
public final class Suggestions {

    /** Words by which other programs list things. */
    private static final Set<String> LIST = Set.of("list", "ls", "lst", "show");

    private Suggestions() {}

    /** Names close to the typed one; empty if absent. */
    public static Optional<String> of(ParameterException failure) {
        if (!(failure instanceof UnmatchedArgumentException unmatched) || unmatched.getUnmatched().isEmpty()) {
            return Optional.empty();
        }
        CommandLine command = failure.getCommandLine();
        List<String> words = unmatched.getUnmatched();
        String called = command.getCommandSpec().qualifiedName();
        if (words.getFirst().startsWith("-")) {
            List<String> options = command.getCommandSpec().options().stream()
                    .flatMap(option -> Arrays.stream(option.names())).toList();
            return NameSuggestion.of(words.getFirst(), options).map(option -> "did you mean " + option + "?");
        }
        List<String> names = names(command, words);
        if (names.isEmpty()) {
            return LIST.contains(words.getFirst()) && command.getCommandSpec().parent() != null
                    ? Optional.of("`" + called + "` lists them without '" + words.getFirst() + "'")
                    : Optional.empty();
        }
        return Optional.of("did you mean `" + called + " " + String.join(" ", names) + "`?");
    }

    /** The commands that the words are near to, as far down as they are. */
    private static List<String> names(CommandLine command, List<String> words) {
        List<String> names = new ArrayList<>();
        Map<String, CommandLine> below = command.getSubcommands();
        for (String word : words) {
            String name = NameSuggestion.of(word, below.keySet()).orElse(null);
            CommandLine found = name == null ? null : below.get(name);
            if (name == null || found == null) {
                break;
            }
            names.add(name);
            below = found.getSubcommands();
        }
        return names;
    }
}
