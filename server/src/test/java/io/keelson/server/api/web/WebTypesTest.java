package io.keelson.server.api.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The modules of the dashboard under the type checker of TypeScript, by what their code and JSDoc say. Templates are not checked. */
@Breadth.InPart(0)
class WebTypesTest {

    private static final String OPTIONS = """
            {"compilerOptions": {"allowJs": true, "checkJs": true, "noEmit": true, "target": "esnext", "module": "esnext",
              "moduleResolution": "bundler", "lib": ["esnext", "dom", "dom.iterable"], "strict": false, "skipLibCheck": true, "types": []},
             "include": ["**/*.js", "types.d.ts"]}""";

    @TempDir
    Path folder;

    /** Beside a wrong module, which shows that the checker looks. */
    @Test
    void modulesHaveTheirDeclaredTypes() throws Exception {
        Map<String, byte[]> sources = new HashMap<>(WebSources.read(null));
        sources.put("wrong.js", "export const twice = (n) => n * 2;\nexport const none = twice(1).length;\n"
                .getBytes(StandardCharsets.UTF_8));

        assertThat(check(sources).lines()).singleElement().asString().startsWith("web/wrong.js(")
                .contains("Property 'length' does not exist on type 'number'");
    }

    /** What the checker prints: a line for each fault. */
    private String check(Map<String, byte[]> sources) throws Exception {
        Path web = folder.resolve("web");
        for (Map.Entry<String, byte[]> source : sources.entrySet()) {
            Path file = web.resolve(source.getKey());
            Files.createDirectories(file.getParent());
            Files.write(file, source.getValue());
        }
        Files.writeString(web.resolve("tsconfig.json"), OPTIONS);
        try (InputStream types = resource("/web-types.d.ts")) {
            Files.copy(types, web.resolve("types.d.ts"));
        }
        Path compiler = WebJar.copy("typescript", "lib/(_tsc\\.js|lib[^/]*\\.d\\.ts)", folder).resolve("lib");
        Process checker = new ProcessBuilder("node", compiler.resolve("_tsc.js").toString(), "--pretty", "false", "-p",
                web.resolve("tsconfig.json").toString()).redirectErrorStream(true).directory(folder.toFile()).start();
        String said = new String(checker.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(checker.waitFor(1, TimeUnit.MINUTES)).isTrue();
        return said;
    }

    private static InputStream resource(String name) {
        return Objects.requireNonNull(WebTypesTest.class.getResourceAsStream(name), name);
    }
}
