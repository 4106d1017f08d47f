package io.keelson.cli.common;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.keelson.cli.follow.ArtifactFiles;
import io.keelson.core.plan.PlanProblem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MissionFileTest {

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"string | 5 | \"5\"", "integer | 5 | 5", "integer | five | \"five\"",
            "number | 0.1000000000000000055 | 0.1000000000000000055", "array | [1,2] | [1,2]", "boolean | true | true",
            "object | {\"a\":null} | {\"a\":null}"})
    void valuesAreReadAsTheirDeclarationSays(String type, String text, String value) throws Exception {
        MissionFile mission = mission("inputs: {x: {type: " + type + "}}");
        mission.inputs(Map.of("x", text), folder);
        assertThat(mission.document().at("/input/x").toString()).isEqualTo(value);
    }

    @Test
    void pathsAreRelativeToTheCallersDirectory() throws Exception {
        Files.createDirectory(folder.resolve("here"));
        MissionFile mission = mission("inputs: {a: {type: string, format: path, default: here}, "
                + "b: {type: string, format: path}, c: {type: string, default: here}}");
        mission.inputs(Map.of("b", "../other/file"), folder);
        assertThat(mission.document().at("/input").toString()).isEqualTo("{\"b\":\""
                + folder.resolve("../other/file").normalize() + "\",\"a\":\"" + folder.resolve("here") + "\"}");
        assertThat(mission.folders()).containsExactly(folder.resolve("here"), folder.resolve("../other").normalize());
    }

    @Test
    void problemsNameTheirLines() throws Exception {
        MissionFile mission = mission("name: x\nplan:\n  tasks:\n    - id: a\n      stepz: []\n");
        CliException refusal = mission.invalid(List.of(new PlanProblem("UNKNOWN_KEY", "/plan/tasks/0/stepz", "unknown"),
                new PlanProblem("REQUIRED", "/plan/tasks/0/steps/4", "missing"),
                new PlanProblem("WHOLE", "", "all of it")));
        assertThat(refusal.problems()).extracting(problem -> refusal.line(problem.pointer()).orElse(0))
                .containsExactly(5, 4, 0);
        assertThat(refusal.exitCode()).isEqualTo(ExitCode.USAGE);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"a: [ | MALFORMED_YAML", "[1, 2] | WRONG_TYPE", "a: 1\\na: 2 | DUPLICATE_KEY"})
    void fileWithoutAMissionIsRefused(String text, String code) {
        CliException refusal = catchThrowableOfType(CliException.class, () -> mission(text.replace("\\n", "\n")));
        assertThat(refusal.problems()).extracting(PlanProblem::code).containsExactly(code);
    }

    @ParameterizedTest
    @CsvSource({"report.md, report.md", "../../etc/passwd, .._.._etc_passwd", ".., artifact", "a\\b, a_b"})
    void artifactNamesAreNeverPaths(String name, String file) {
        Set<String> taken = new HashSet<>();
        assertThat(ArtifactFiles.fileName(name, taken)).isEqualTo(file);
        assertThat(ArtifactFiles.fileName(name, taken)).isEqualTo("2-" + file);
    }

    private MissionFile mission(String yaml) throws Exception {
        return MissionFile.read(Files.writeString(folder.resolve("mission.yaml"), yaml).toString());
    }
}
