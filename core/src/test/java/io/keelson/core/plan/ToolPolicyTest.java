package io.keelson.core.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.plan.ToolPolicy.Level;
import io.keelson.core.plan.ToolPolicy.Rule;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which level refuses a tool. */
class ToolPolicyTest {

    /** Each level is {@code allowed/denied}, with names apart by blanks; {@code any} allows all, {@code -} is an empty list. */
    @ParameterizedTest
    @CsvSource({
            "files.read, any/-, any/-, any/-, any/-,",
            "files.read, any/-, any/-, any/-, files.read/-,",
            "files.read, any/-, any/-, any/-, files.write/-, AGENT",
            "files.read, any/-, any/-, files.write/-, files.read/-, TASK",
            "files.read, any/-, -/-, files.read/-, files.read/-, MISSION",
            "files.read, http.*/-, files.*/-, files.read/-, files.read/-, WORKSPACE",
            "files.read, files.*/-, */-, files.read/-, files.read/-,",
            "files.read, */files.read, */-, files.read/-, files.read/-, WORKSPACE",
            "files.read, any/-, any/files.*, files.read/-, files.read/-, MISSION",
            "files.read, any/-, any/-, any/*, files.read/-, TASK",
            "files.read, http.*/-, any/-, any/files.read, files.read/-, TASK",
            "files.read, any/-, any/-, files.write/-, files.write/files.read, AGENT",
            "files.read, any/files, any/file*, any/files.re*, any/.*,",
            "filesystem.read, any/files.*, any/-, any/-, any/-,",
            "mcp.git.push, mcp.*/-, mcp.git.*/mcp.git.push, any/-, any/-, MISSION",
    })
    void refusesWhatAnyLevelDeniesOrDoesNotAllow(String tool, String workspace, String mission, String task,
            String agent, @Nullable Level refusedBy) {
        assertThat(new ToolPolicy(List.of(rule(Level.WORKSPACE, workspace), rule(Level.MISSION, mission),
                rule(Level.TASK, task), rule(Level.AGENT, agent))).refusedBy(tool)).isEqualTo(refusedBy);
    }

    private static Rule rule(Level level, String text) {
        String[] lists = text.split("/");
        return new Rule(level, lists[0].equals("any") ? null : names(lists[0]), names(lists[1]));
    }

    private static List<String> names(String text) {
        return text.equals("-") ? List.of() : Stream.of(text.split(" ")).toList();
    }
}
