package io.keelson.core.mutants;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A proof that cannot fail proves nothing: mistakes are planted in the core, and the simulation must find each out. */
@Execution(ExecutionMode.CONCURRENT)
class MutantsTest {
    private static final int SEEDS = 1_000;
    private static final int PARTS = 3;
    /** The third of the mutants to hunt, 0 to 2: another one each day, so that every mutant is hunted within three days. */
    private static final int PART = Integer.getInteger("keelson.mutants.part",
            (int) (LocalDate.now(ZoneOffset.UTC).toEpochDay() % PARTS));

    static List<Mutant> all() {
        return Mutants.all();
    }

    /** All mutants with {@code ./check --all}, else a part of them. */
    static List<Mutant> part() {
        List<Mutant> all = all();
        return Boolean.getBoolean("keelson.long") ? all
                : IntStream.range(0, all.size()).filter(i -> i % PARTS == PART).mapToObj(all::get).toList();
    }

    @ParameterizedTest
    @MethodSource("all")
    void quotesItsSourceOnce(Mutant mutant, @TempDir Path folder) throws IOException {
        assertThat(new MutantCompiler(mutant, folder).mutated()).contains(mutant.becomes());
    }

    @ParameterizedTest
    @MethodSource("part")
    void isFoundOut(Mutant mutant, @TempDir Path folder) throws IOException {
        String found = new MutantCompiler(mutant, folder).hunt(SEEDS);
        assertThat(found).as("what %d seeds find where %s", SEEDS, mutant).isNotNull();
    }

    /** The hunter itself is honest. */
    @Test
    void withoutAMistakeNothingIsFound(@TempDir Path folder) throws IOException {
        Mutant none = new Mutant("decide/Steps.java", "task.tokens += result.tokens();",
                "task.tokens = task.tokens + result.tokens();", "nothing");
        assertThat(new MutantCompiler(none, folder).hunt(5)).isNull();
    }

    @Test
    void theDocsListThemAll() throws IOException {
        String page = Files.readString(Path.of("../docs/internals/proof.md"));
        assertThat(all()).allSatisfy(mutant -> assertThat(page).contains("| " + mutant.breaks() + " |"));
    }
}
