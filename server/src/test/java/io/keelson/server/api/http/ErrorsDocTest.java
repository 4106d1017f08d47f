package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.base.db.DatabaseException;
import io.keelson.server.outlet.backup.BackupException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** {@code docs/reference/errors.md} names every code that the server can answer, and none that it cannot. */
class ErrorsDocTest {

    private static final Pattern LITERAL = Pattern.compile("\"([A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)\"");

    /** Literals that are no codes: variables of the environment, files, codes with a number, a contract's state. */
    private static final Pattern OTHERS = Pattern.compile("(KEELSON|OTEL|GIT|LC|PG|HTTP_STATUS)_.*|WAITING_APPROVAL");

    private static String table;

    @BeforeAll
    static void read() throws IOException {
        table = Files.readString(Path.of("..", "docs", "reference", "errors.md"));
    }

    @Test
    void everyErrorCodeIsListedWithItsStatus() {
        for (ErrorCode code : ErrorCode.values()) {
            assertThat(table).contains("| `" + code + "` | " + code.status() + " |");
        }
    }

    @Test
    void everyCodeInTheSourcesIsExplained() throws IOException {
        Set<String> missing = new TreeSet<>(codesInSources());
        missing.removeIf(code -> table.contains("`" + code + "`"));

        assertThat(missing).as("add these to docs/reference/errors.md").isEmpty();
    }

    @Test
    void everyCodeOfBackupsIsExplained() {
        for (BackupException.Code code : BackupException.Code.values()) {
            assertThat(table).contains("`" + code + "`");
        }
    }

    @Test
    void everyFailureOfProgramsOfWorkersIsExplained() throws IOException {
        assertThat(codesIn("../cli/src/main/java/io/keelson/cli/worker").stream()
                .filter(each -> each.startsWith("PROGRAM_"))
                .filter(each -> !table.contains("`" + each + "`"))).containsExactlyInAnyOrder("PROGRAM_NOT_FOUND",
                        "PROGRAM_NOT_EXECUTABLE");
    }

    @Test
    void everyCodeExplainedExists() throws IOException {
        Set<String> known = codesInSources();
        known.addAll(codesIn("../cli/src/main/java/io/keelson/cli/worker"));
        Stream.of(ErrorCode.values()).forEach(code -> known.add(code.name()));
        Stream.of(DatabaseException.Code.values()).forEach(code -> known.add(code.name()));
        Stream.of(HttpStartException.Code.values()).forEach(code -> known.add(code.name()));
        Stream.of(BackupException.Code.values()).forEach(code -> known.add(code.name()));
        Set<String> explained = new TreeSet<>();
        Matcher codes = Pattern.compile("`([A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)`").matcher(table);
        while (codes.find()) {
            explained.add(codes.group(1));
        }
        explained.removeIf(code -> OTHERS.matcher(code).matches());

        assertThat(known).as("take the others out of docs/reference/errors.md").containsAll(explained);
    }

    private static Set<String> codesInSources() throws IOException {
        Set<String> codes = new TreeSet<>();
        for (String folder : List.of("../core/src/main/java", "src/main/java/io/keelson/server")) {
            codes.addAll(codesIn(folder));
        }
        codes.removeIf(code -> OTHERS.matcher(code).matches());
        return codes;
    }

    private static Set<String> codesIn(String folder) throws IOException {
        Set<String> codes = new TreeSet<>();
        try (Stream<Path> files = Files.walk(Path.of(folder))) {
            for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
                Matcher literals = LITERAL.matcher(Files.readString(file));
                while (literals.find()) {
                    codes.add(literals.group(1));
                }
            }
        }
        return codes;
    }
}
