package io.keelson.server.base.db;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files of the schema that a release has applied to databases are never changed. {@code config/schema.sha256} lists them. With
 * {@code -Dfreeze.schema=true}, as the steps of a release say, this test adds the new files to the list.
 */
class FrozenSchemaTest {

    private static final Path ROOT = Path.of("..");
    private static final Path FILES = Path.of("src/main/resources/db/schema");
    private static final Path LIST = ROOT.resolve("config/schema.sha256");

    @TempDir
    private Path folder;

    @Test
    void filesOfReleasesAreUnchanged() throws IOException {
        Map<String, String> frozen = Files.exists(LIST) ? read(Files.readString(LIST)) : new TreeMap<>();
        assertThat(problems(frozen, hashes(FILES))).isEmpty();
        if (Boolean.getBoolean("freeze.schema")) {
            hashes(FILES).forEach(frozen::putIfAbsent);
            Files.writeString(LIST, write(frozen));
        }
        boolean released = Files.readString(ROOT.resolve("CHANGELOG.md")).lines()
                .anyMatch(line -> line.startsWith("## [") && !line.startsWith("## [Unreleased]"));
        assertThat(released && frozen.isEmpty())
                .as("CHANGELOG.md has a release: add its files of the schema by -Dfreeze.schema=true").isFalse();
    }

    @Test
    void aChangedOrRemovedFileIsAProblemAndANewOneIsNone() throws IOException {
        Files.writeString(folder.resolve("V1__a.sql"), "create table a (id int);");
        Files.writeString(folder.resolve("V2__b.sql"), "create table b (id int);");
        Files.writeString(folder.resolve("V2__b.sql.conf"), "executeInTransaction=false");
        Map<String, String> frozen = read(write(hashes(folder)));
        assertThat(problems(frozen, hashes(folder))).isEmpty();

        Files.writeString(folder.resolve("V3__c.sql"), "create table c (id int);");
        assertThat(problems(frozen, hashes(folder))).as("a new file").isEmpty();

        Files.writeString(folder.resolve("V1__a.sql"), "create table a (id bigint);");
        Files.delete(folder.resolve("V2__b.sql.conf"));
        assertThat(problems(frozen, hashes(folder))).containsExactly(
                "V1__a.sql was changed after a release: undo it, and add a new file V4__SUBJECT.sql",
                "V2__b.sql.conf was removed after a release: undo it, and add a new file V4__SUBJECT.sql");
    }

    private static Stream<String> problems(Map<String, String> frozen, Map<String, String> now) {
        int next = now.keySet().stream().filter(name -> name.endsWith(".sql"))
                .mapToInt(name -> Integer.parseInt(name.substring(1, name.indexOf('_')))).max().orElse(0) + 1;
        return frozen.entrySet().stream().filter(each -> !each.getValue().equals(now.get(each.getKey())))
                .map(each -> each.getKey() + (now.containsKey(each.getKey()) ? " was changed" : " was removed")
                        + " after a release: undo it, and add a new file V" + next + "__SUBJECT.sql");
    }

    private static Map<String, String> read(String list) {
        return list.lines().map(line -> line.split("  ", 2))
                .collect(Collectors.toMap(line -> line[1], line -> line[0], (one, other) -> one, TreeMap::new));
    }

    /** As {@code sha256sum} prints and checks it. */
    private static String write(Map<String, String> hashes) {
        return hashes.entrySet().stream().map(each -> each.getValue() + "  " + each.getKey() + "\n")
                .collect(Collectors.joining());
    }

    private static Map<String, String> hashes(Path files) throws IOException {
        Map<String, String> hashes = new TreeMap<>();
        try (Stream<Path> all = Files.list(files)) {
            for (Path file : all.toList()) {
                hashes.put(file.getFileName().toString(), sha256(Files.readAllBytes(file)));
            }
        }
        return hashes;
    }

    private static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
