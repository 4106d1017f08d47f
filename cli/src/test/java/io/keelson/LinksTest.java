package io.keelson;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Links between pages lead to files and headings, and the tests that pages name exist. */
class LinksTest {
    private static final Path ROOT = RepositoryFiles.ROOT;
    private static final Pattern CODE = Pattern.compile("(?ms)^```.*?^```");
    private static final Pattern LINK = Pattern.compile("]\\((?![a-z]+:)([^)#\\s]*)(?:#([^)\\s]+))?\\)");
    private static final Pattern TEST = Pattern.compile("`(\\w+Test)(?:#\\w+)?`|-Dtest='?([\\w,*]+Test)\\b");
    private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} (.*)$");

    @Test
    void linksLeadToFilesAndHeadings() throws IOException {
        List<Path> pages = RepositoryFiles.below(ROOT, each -> each.toString().endsWith(".md"));
        Map<Path, Set<String>> anchors = new HashMap<>();
        for (Path page : pages) {
            anchors.put(page, anchors(page));
        }
        List<String> broken = new ArrayList<>();
        for (Path page : pages) {
            for (MatchResult link : LINK.matcher(prose(page)).results().toList()) {
                Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1)).normalize();
                if (!Files.exists(target)
                        || link.group(2) != null && !anchors.getOrDefault(target, Set.of(link.group(2)))
                                .contains(link.group(2))) {
                    broken.add(ROOT.relativize(page) + ": " + link.group());
                }
            }
        }
        assertThat(broken).as("correct the link, or the heading that it names").isEmpty();
    }

    /** In code as {@code XTest} or {@code -Dtest=XTest,YTest}; the comparison with other systems names most of them. */
    @Test
    void testsNamedByPagesExist() throws IOException {
        Set<String> tests = new HashSet<>();
        RepositoryFiles.below(ROOT, each -> each.toString().matches(".*(?:Test\\.java|test_\\w+\\.py)"))
                .forEach(each -> tests.add(each.getFileName().toString().replaceAll("\\.\\w+$", "")));
        List<String> named = new ArrayList<>();
        List<String> absent = new ArrayList<>();
        for (Path page : RepositoryFiles.below(ROOT, each -> each.toString().endsWith(".md"))) {
            for (MatchResult name : TEST.matcher(Files.readString(page)).results().toList()) {
                for (String each : (name.group(1) == null ? name.group(2) : name.group(1)).split(",")) {
                    named.add(each);
                    if (!tests.contains(each) && !each.startsWith("*")) {
                        absent.add(ROOT.relativize(page) + ": " + each);
                    }
                }
            }
        }
        assertThat(named).hasSizeGreaterThan(200);
        assertThat(absent).as("name the test that proves the statement").isEmpty();
    }

    /** The table of what was executed has a row for each page of operators and each file to deploy. */
    @Test
    void everyPageOfOperatorsAndEveryFileToDeployIsMarked() throws IOException {
        String table = Files.readString(ROOT.resolve("docs/operate/tried.md"));
        Path operate = ROOT.resolve("docs/operate");
        List<String> files = new ArrayList<>();
        RepositoryFiles.below(operate, each -> each.toString().endsWith(".md") && !each.endsWith("tried.md"))
                .forEach(each -> files.add("[" + each.getFileName() + "](" + each.getFileName() + ")"));
        RepositoryFiles.below(ROOT.resolve("deploy"), each -> true).forEach(each -> {
            String name = ROOT.relativize(each).toString();
            files.add(name.startsWith("deploy/helm/") ? "`deploy/helm/keelson`" : "`" + name + "`");
        });
        assertThat(files).hasSizeGreaterThan(20).allMatch(each -> table.contains("| " + each + " |"), "has a row");
    }

    private static String prose(Path page) throws IOException {
        return CODE.matcher(Files.readString(page)).replaceAll("");
    }

    /** Anchors as GitHub makes them. */
    private static Set<String> anchors(Path page) throws IOException {
        Map<String, Integer> times = new HashMap<>();
        Set<String> anchors = new HashSet<>();
        for (MatchResult heading : HEADING.matcher(prose(page)).results().toList()) {
            String anchor = heading.group(1).replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1").strip()
                    .toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N}_\\- ]", "").replace(' ', '-');
            int before = times.merge(anchor, 1, Integer::sum) - 1;
            anchors.add(before == 0 ? anchor : anchor + "-" + before);
        }
        return anchors;
    }
}
