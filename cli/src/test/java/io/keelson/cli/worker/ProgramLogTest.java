package io.keelson.cli.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The lines of a program's standard error that its failure has. */
class ProgramLogTest {

    private static String last(String stderr) throws InterruptedException {
        List<String> passed = new ArrayList<>();
        String last = new ProgramLog(new ByteArrayInputStream(stderr.getBytes(StandardCharsets.UTF_8)),
                UnaryOperator.identity(), passed::add).awaitLast();
        assertThat(passed).hasSize((int) stderr.lines().count());
        return last;
    }

    private static String frames(int count) {
        return IntStream.range(0, count).mapToObj(i -> "  at frame " + i).collect(Collectors.joining("\n"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"Traceback (most recent call last):", "Exception in thread \"main\" a.b.C: wrong",
            "openai.BadRequestError: 400", "TypeError: x is not a function", "panic: runtime error"})
    void firstLineOfTheExceptionIsKept(String first) throws Exception {
        assertThat(last("started\nOSError: handled\ncontinued\n" + first + "\n" + frames(40)))
                .startsWith(first + "\n…\n  at frame 20").endsWith("  at frame 39").doesNotContain("handled");
    }

    @Test
    void fewLinesAreWhole() throws Exception {
        assertThat(last("started\nTypeError: x\n" + frames(3))).isEqualTo("started\nTypeError: x\n" + frames(3));
        assertThat(last("")).isEmpty();
    }

    @Test
    void longLinesLeaveTheFirstOfTheException() throws Exception {
        assertThat(last("TypeError: x\n" + ("y".repeat(900) + "\n").repeat(5) + "end"))
                .startsWith("TypeError: x\n…\n").endsWith("y\nend").hasSizeLessThan(2_100);
    }
}
