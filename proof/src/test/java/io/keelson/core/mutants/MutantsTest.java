package io.keelson.core.mutants;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A proof that cannot fail proves nothing: mistakes are planted in the core, and the simulation must find each out. */
@ExtendWith(Breadth.InFailures.class)
@Execution(ExecutionMode.CONCURRENT)
class MutantsTest {
    private static final int SEEDS = 1_000;

    static List<Mutant> all() {
        return Mutants.all();
    }

    /** All mutants with {@code ./check --all}, else a part of them. */
    static List<Mutant> part() {
        return Breadth.of(all());
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
        Mutant none = new Mutant("decide/Credits.java", "step.tokens += result.tokens().total();",
                "step.tokens = step.tokens + result.tokens().total();", "nothing");
        assertThat(new MutantCompiler(none, folder).hunt(5)).isNull();
    }

    @Test
    void theDocsListThemAll() throws IOException {
        String page = Files.readString(Path.of("../docs/internals/proof.md"));
        assertThat(all()).allSatisfy(mutant -> assertThat(page).contains("| " + mutant.breaks() + " |"));
    }
}
