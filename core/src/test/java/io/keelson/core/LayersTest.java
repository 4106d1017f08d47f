package io.keelson.core;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.keelson.core.decide.Decider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * A reader can follow a decision from the top down: classes of the core refer to each other in one direction, and
 * {@code core.decide} in the layers that its package page lists. Nested classes count as their file; a sealed type does
 * not refer to what it permits.
 */
class LayersTest {
    private static final int LARGEST_CYCLE = 5;
    private static final Path PAGE = Path.of("src/main/java/io/keelson/core/decide/package-info.java");
    private static final Map<String, Set<String>> REFERENCES = references();

    @Test
    void noLargeGroupOfFilesIsOneCycle() {
        Map<String, Set<String>> reached = new HashMap<>();
        REFERENCES.keySet().forEach(file -> reached.put(file, reachedFrom(file)));
        Set<Set<String>> cycles = REFERENCES.keySet().stream()
                .map(file -> reached.get(file).stream().filter(other -> reached.get(other).contains(file))
                        .collect(Collectors.toCollection(TreeSet::new)))
                .filter(cycle -> cycle.size() > LARGEST_CYCLE).collect(Collectors.toSet());
        assertThat(cycles).as("files that all refer to each other: move what the lower ones need into a file below")
                .isEmpty();
    }

    @Test
    void noRuleCallsALayerAboveItsOwn() throws IOException {
        List<Set<String>> layers = layers();
        Map<String, Integer> levels = new HashMap<>();
        for (int level = 0; level < layers.size(); level++) {
            for (String name : layers.get(level)) {
                assertThat(levels.put(name, level)).as(name + " is in two layers").isNull();
            }
        }
        List<String> upward = new ArrayList<>();
        rules().forEach((name, others) -> others.stream().filter(other -> levels.get(other) < levels.get(name))
                .forEach(other -> upward.add(name + " refers to " + other)));
        assertThat(upward).as("references to a layer above, see core.decide's package-info").isEmpty();
    }

    @Test
    void everyRuleHasALayer() throws IOException {
        assertThat(layers().stream().flatMap(Set::stream)).containsExactlyInAnyOrderElementsOf(rules().keySet());
    }

    /** The classes of {@code core.decide} by their simple names. */
    private static Map<String, Set<String>> rules() {
        Map<String, Set<String>> rules = new TreeMap<>();
        REFERENCES.forEach((name, others) -> {
            if (isRule(name)) {
                rules.put(simple(name), others.stream().filter(LayersTest::isRule).map(LayersTest::simple)
                        .collect(Collectors.toSet()));
            }
        });
        return rules;
    }

    private static boolean isRule(String name) {
        return name.startsWith(Decider.class.getPackageName() + ".");
    }

    private static String simple(String name) {
        return name.substring(name.lastIndexOf('.') + 1);
    }

    /** The layers in the list of the package page, from the top. */
    private static List<Set<String>> layers() throws IOException {
        String page = Files.readString(PAGE);
        String list = page.substring(page.indexOf("<ol>"), page.indexOf("</ol>"));
        return Pattern.compile("<li>[^:]*:([^.]*)\\.").matcher(list).results()
                .map(item -> Set.of(item.group(1).replaceAll("[\\s*]", "").split(","))).toList();
    }

    private static Set<String> reachedFrom(String file) {
        Set<String> reached = new HashSet<>();
        Deque<String> todo = new ArrayDeque<>(Set.of(file));
        while (!todo.isEmpty()) {
            REFERENCES.getOrDefault(todo.poll(), Set.of()).stream().filter(reached::add).forEach(todo::add);
        }
        return reached;
    }

    private static Map<String, Set<String>> references() {
        JavaClasses core = new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("io.keelson.core");
        Map<String, Set<String>> references = new TreeMap<>();
        for (JavaClass from : core) {
            Set<String> others = references.computeIfAbsent(file(from), name -> new TreeSet<>());
            from.getDirectDependenciesFromSelf().stream().map(each -> each.getTargetClass().getBaseComponentType())
                    .filter(other -> core.contain(other.getName()))
                    .map(LayersTest::file).filter(other -> !other.equals(file(from)))
                    .forEach(others::add);
        }
        references.keySet().removeIf(name -> name.endsWith("package-info"));
        return references;
    }

    private static String file(JavaClass of) {
        return of.getName().replaceFirst("\\$.*", "");
    }
}
