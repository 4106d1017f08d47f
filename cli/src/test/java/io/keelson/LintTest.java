package io.keelson;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Shell scripts and YAML files without findings of shellcheck and yamllint. */
class LintTest {

    private static final Path ROOT = RepositoryFiles.ROOT;
    private static final List<String> SHELL = List.of("shellcheck", "-x");
    private static final List<String> YAML = List.of("yamllint", "-c", ROOT.resolve("config/yamllint.yaml").toString());

    private static String lint(List<String> command, List<Path> files) throws Exception {
        Process process = new ProcessBuilder(
                Stream.concat(command.stream(), files.stream().map(Path::toString)).toList())
                .directory(ROOT.toFile()).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String findings = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return findings;
    }

    private static List<Path> files(Predicate<Path> wanted) {
        return RepositoryFiles.below(ROOT, wanted).stream().map(ROOT::relativize).toList();
    }

    private static boolean isShell(Path file) {
        if (!Files.isExecutable(file)) {
            return file.toString().endsWith(".sh");
        }
        try (Stream<String> lines = Files.lines(file, StandardCharsets.ISO_8859_1)) {
            return lines.findFirst().orElse("").matches("#!/bin/(ba)?sh.*");
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shellScriptsHaveNoFindings(@TempDir Path folder) throws Exception {
        List<Path> scripts = files(LintTest::isShell);
        assertThat(scripts).contains(Path.of("keelson"), Path.of("check"), Path.of("examples/start.sh"));
        assertThat(lint(SHELL, scripts)).isEmpty();

        Path wrong = Files.writeString(folder.resolve("wrong.sh"), "#!/bin/sh\nrm $1\n");
        assertThat(lint(SHELL, List.of(wrong))).contains("SC2086");
    }

    @Test
    void yamlFilesHaveNoFindings(@TempDir Path folder) throws Exception {
        List<Path> documents = files(file -> file.toString().matches(".*\\.ya?ml"));
        assertThat(documents).contains(Path.of("server/src/main/resources/openapi.yaml"));
        assertThat(lint(YAML, documents)).isEmpty();

        Path wrong = Files.writeString(folder.resolve("wrong.yaml"), "a: 1\na: 2\n");
        assertThat(lint(YAML, List.of(wrong))).contains("duplication of key");
    }
}
